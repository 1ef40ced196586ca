/**
 * Lets in what waits for its group and was never told of: a node died after a run of the group had ended, and before
 * its next claim let others in (`Claimer.freed`).
 */
import { Effect, Latch, Layer } from "effect"
import { Feed } from "../activity/Feed.ts"
import { forkLasting } from "../errors/Lasting.ts"
import { now as currentTime } from "../ids/Timestamp.ts"
import { JournalStore } from "../journal/JournalStore.ts"
import { Lookout } from "../journal/Lookout.ts"
import type { Group } from "../runs/Group.ts"

/** Groups in one transaction. */
const batch = 100

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* JournalStore
    const feed = yield* Feed
    const lookout = yield* Lookout
    // What the last life of this node owed is made good at once.
    const owed = Latch.makeUnsafe(true)

    const letInAll = Effect.gen(function* () {
      let after: Group | null = null
      while (true) {
        const groups: ReadonlyArray<Group> = yield* store.parked(after, batch)
        if (groups.length > 0 && (yield* store.unpark(groups, yield* currentTime)) > 0) {
          yield* feed.tell([{ type: "deliveries:waiting", node_id: null }])
        }
        after = groups.at(-1) ?? null
        if (groups.length < batch) return
      }
    })

    yield* lookout.onSight(({ parked }) => {
      if (parked) owed.openUnsafe()
    })
    const letInOwed = owed.await.pipe(Effect.andThen(Effect.sync(() => owed.closeUnsafe())), Effect.andThen(letInAll))
    yield* forkLasting({ name: "The queue of groups that others left" }, letInOwed)
  })
)
