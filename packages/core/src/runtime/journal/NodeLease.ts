/**
 * The id of this node, and its lease.
 *
 * A lease is renewed only while the node has runs, as part of commits that happen anyway, so an idle node executes no
 * statement. A node without runs may be considered dead without harm.
 */
import { Context, Effect, Layer } from "effect"
import { fresh, NodeId } from "../../foundation/Ids.ts"
import { addMillis, type Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Lease } from "./JournalStore.ts"

export class NodeLease extends Context.Service<
  NodeLease,
  {
    readonly nodeId: NodeId
    /** Duration of a lease in milliseconds. */
    readonly lengthMs: number
    /** Returns the lease to write with a commit at `now`, or null while more than two thirds of the current one remain. */
    readonly due: (now: Timestamp) => Lease | null
    /** Returns a full lease from `now`. */
    readonly full: (now: Timestamp) => Lease
    /** Records that the lease is stored. */
    readonly renewed: (lease: Lease) => void
  }
>()("@weft/core/runtime/journal/NodeLease") {
  static readonly layer = (lengthMs: number) =>
    Layer.effect(
      NodeLease,
      Effect.gen(function* () {
        const nodeId = yield* fresh(NodeId)
        let until = 0
        const full = (now: Timestamp): Lease => ({ node_id: nodeId, until: addMillis(now, lengthMs) })

        return NodeLease.of({
          nodeId,
          lengthMs,
          full,
          due: (now) => (until - now > (lengthMs * 2) / 3 ? null : full(now)),
          renewed: (lease) => {
            until = Math.max(until, lease.until)
          }
        })
      })
    )
}
