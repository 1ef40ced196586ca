/** The state of a node, as it reports it to the other nodes. */
import { Schema } from "effect"
import { NodeId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"

export const NodeSummary = Schema.Struct({
  node_id: NodeId,
  /** Release and commit; null for a host that does not state them. */
  version: Schema.NullOr(Schema.String),
  git_sha: Schema.NullOr(Schema.String),
  start_time: Timestamp,
  /** Slots of claimed deliveries, and the maximum of the node. */
  deliveries_running: Schema.Int,
  deliveries_max: Schema.Int
})
export type NodeSummary = typeof NodeSummary.Type
