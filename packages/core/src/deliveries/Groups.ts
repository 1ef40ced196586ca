/**
 * Lets in what waits for its group, as runs of the group end.
 *
 * Soon, not at once: endings that come together share a transaction, and nobody waits for it. What a node owed when
 * it died, the next pass of any node makes good.
 */
import { Context, Effect, Latch, Layer } from "effect"
import { Feed } from "../activity/Feed.ts"
import { forkLasting } from "../errors/Lasting.ts"
import { now as currentTime } from "../ids/Timestamp.ts"
import { JournalStore } from "../journal/JournalStore.ts"
import { Lookout } from "../journal/Lookout.ts"
import type { Group } from "../runs/Group.ts"
import { Claimer } from "./Claimer.ts"
import { Slots } from "./Slots.ts"

/** Groups in one transaction. */
const batch = 100

export class Groups extends Context.Service<
  Groups,
  {
    /** A run of the group has ended, and the store knows. Returns at once. */
    readonly ended: (group: Group) => void
  }
>()("@weft/core/runs/Groups") {
  static readonly layer = Layer.effect(
    Groups,
    Effect.gen(function* () {
      const store = yield* JournalStore
      const slots = yield* Slots
      const claimer = yield* Claimer
      const feed = yield* Feed
      const lookout = yield* Lookout
      const wake = Latch.makeUnsafe(false)
      const pending = new Map<string, Group>()

      const letIn = Effect.fnUntraced(function* (groups: ReadonlyArray<Group>) {
        const count = yield* store.unpark(groups, yield* currentTime)
        if (count === 0) return
        for (const envId of new Set(groups.map((group) => group.env_id))) claimer.claim(slots.waits(envId))
        yield* feed.tell([{ type: "deliveries:waiting", node_id: null }])
      })

      const letInPending = Effect.gen(function* () {
        while (pending.size > 0) {
          const groups = [...pending].slice(0, batch)
          for (const [id] of groups) pending.delete(id)
          yield* Effect.onError(letIn(groups.map(([, group]) => group)), () =>
            Effect.sync(() => {
              for (const [id, group] of groups) pending.set(id, group)
            })
          )
        }
      })

      const letInAll = Effect.gen(function* () {
        let after: Group | null = null
        while (true) {
          const groups: ReadonlyArray<Group> = yield* store.parked(after, batch)
          if (groups.length > 0) yield* letIn(groups)
          after = groups.at(-1) ?? null
          if (groups.length < batch) return
        }
      })

      const letInNext = Effect.gen(function* () {
        yield* wake.await
        yield* letInPending
        if (pending.size === 0) wake.closeUnsafe()
      })
      yield* forkLasting({ name: "The queue of groups" }, letInNext)

      // What the last life of this node owed is made good at once.
      const owed = Latch.makeUnsafe(true)
      yield* lookout.onSight(({ parked }) => {
        if (parked) owed.openUnsafe()
      })
      const letInOwed = owed.await.pipe(Effect.andThen(Effect.sync(() => owed.closeUnsafe())), Effect.andThen(letInAll))
      yield* forkLasting({ name: "The queue of groups that others left" }, letInOwed)

      // What the last runs of this node left is for the others.
      yield* Effect.addFinalizer(() => Effect.ignore(letInPending))

      return Groups.of({
        ended: (group) => {
          pending.set(idOf(group), group)
          wake.openUnsafe()
        }
      })
    })
  )
}

const idOf = ({ env_id, key }: Group): string => `${env_id} ${key}`
