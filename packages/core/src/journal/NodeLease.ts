/**
 * This process as the others see it: its id, and the promise to be alive.
 *
 * A lease is renewed only while the node holds runs, and rides on commits that happen anyway, so an idle node
 * costs no statement. Who holds nothing may be taken for dead without harm.
 */
import { Context, Effect, Layer } from "effect"
import { fresh, NodeId } from "../ids/Ids.ts"
import { addMillis, type Timestamp } from "../ids/Timestamp.ts"
import type { Lease } from "./JournalStore.ts"

export class NodeLease extends Context.Service<
  NodeLease,
  {
    readonly nodeId: NodeId
    /** How long a lease holds, in milliseconds. */
    readonly lengthMs: number
    /** The lease to write with a commit at `now`, or null while the one held has more than two thirds of its time left. */
    readonly due: (now: Timestamp) => Lease | null
    /** A full lease from `now`. */
    readonly full: (now: Timestamp) => Lease
    /** Tells that the store has `lease`. */
    readonly renewed: (lease: Lease) => void
  }
>()("@weft/core/runs/NodeLease") {
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
