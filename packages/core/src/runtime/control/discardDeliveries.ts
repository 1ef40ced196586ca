/** Discards pending deliveries in bounded transactions. */
import { Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { Claimer } from "../dispatch/Claimer.ts"
import { eventActivity } from "../runs/Activity.ts"
import type { DeliveryPosition, DeliverySelection, DiscardedDelivery } from "../runs/DeliverySelection.ts"
import { RunControlStore } from "../runs/RunControlStore.ts"
import { ChildRuns } from "../workflows/ChildRuns.ts"

/** Maximum deliveries that one transaction examines. */
const batch = 500

/**
 * Returns a function that examines all pending deliveries of an environment once and discards the selected ones. It calls
 * `onDiscarded` with the number of each batch.
 */
export const makeDiscardPass = Effect.gen(function* () {
  const store = yield* RunControlStore
  const claimer = yield* Claimer
  const bus = yield* ClusterBus
  const childRuns = yield* ChildRuns

  const notify = (envId: EnvId, discarded: ReadonlyArray<DiscardedDelivery>) => {
    // The due deliveries of a group count towards its limit, so parked ones may start now.
    for (const key of new Set(discarded.flatMap(({ group }) => group ?? [])))
      claimer.unparkLater({ env_id: envId, key })
    const calls = discarded.filter(({ event_type }) => event_type === "svc:call")
    childRuns.ended(calls.map(({ event_id }) => ({ env_id: envId, event_id })))
    if (discarded.length === 0 || !bus.hasSubscribers()) return Effect.void
    return bus.publish(discarded.map((each) => eventActivity("event:handled", { env_id: envId, ...each })))
  }

  return Effect.fnUntraced(function* (
    envId: EnvId,
    which: DeliverySelection,
    onDiscarded: (count: number) => void = () => undefined
  ): Effect.fn.Return<void, StoreUnavailable> {
    const examine = (after: DeliveryPosition | null) =>
      Effect.uninterruptible(
        Effect.tap(store.discard(envId, which, after, batch), ({ discarded }) => {
          onDiscarded(discarded.length)
          return notify(envId, discarded)
        })
      )
    let { next } = yield* examine(null)
    while (next !== null) next = (yield* examine(next)).next
  })
})
