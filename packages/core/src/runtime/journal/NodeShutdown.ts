/**
 * Hands the remaining work of this node to the others when its last run has ended.
 *
 * They take over at once:
 * - deliveries that it released or would have retried
 * - groups with free capacity
 * - runs that it could not settle because the store was unavailable
 */
import { Effect, Layer } from "effect"
import { logOutage } from "../../foundation/Supervised.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { JournalStore } from "./JournalStore.ts"
import { NodeLease } from "./NodeLease.ts"

/** Built before all layers that write to the journal, so that it ends after them. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* JournalStore
    const bus = yield* ClusterBus
    const { nodeId } = yield* NodeLease
    yield* Effect.addFinalizer(() =>
      store
        .endLease(nodeId)
        .pipe(
          Effect.catchTag("StoreUnavailable", logOutage),
          Effect.andThen(bus.sendControl([{ type: "deliveries:waiting", node_id: null }]))
        )
    )
  })
)
