/**
 * Unparks deliveries of groups with free capacity that nobody unparked. A node died after a run of the group had ended
 * and before its next claim (`Claimer.unparkLater`).
 */
import { Effect, Latch, Layer } from "effect"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { JournalStore } from "../journal/JournalStore.ts"
import { StorePoller } from "../journal/StorePoller.ts"
import type { Group } from "../runs/Group.ts"

/** Maximum groups per transaction. */
const batch = 100

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* JournalStore
    const bus = yield* ClusterBus
    const poller = yield* StorePoller
    // Open at the start, because an earlier process of this node may have left parked deliveries.
    const parkedFound = Latch.makeUnsafe(true)

    const unparkAll = Effect.gen(function* () {
      let after: Group | null = null
      while (true) {
        const groups: ReadonlyArray<Group> = yield* store.parked(after, batch)
        if (groups.length > 0 && (yield* store.unpark(groups, yield* currentTime)) > 0) {
          yield* bus.sendControl([{ type: "deliveries:waiting", node_id: null }])
        }
        after = groups.at(-1) ?? null
        if (groups.length < batch) return
      }
    })

    yield* poller.onPoll(({ parked }) => {
      if (parked) parkedFound.openUnsafe()
    })
    const unparkFound = parkedFound.await.pipe(
      Effect.andThen(Effect.sync(() => parkedFound.closeUnsafe())),
      Effect.andThen(unparkAll)
    )
    yield* forkSupervised({ name: "The group unparker" }, unparkFound)
  })
)
