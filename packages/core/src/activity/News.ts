/** What the parts of a node, and nodes, tell each other so that they need not ask. */
import { Schema } from "effect"
import { EnvId, NodeId, ProjectId, RunId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"

export const News = Schema.Union([
  Schema.Struct({ type: Schema.Literal("deployments:changed"), env_id: EnvId }),
  Schema.Struct({ type: Schema.Literal("context:changed"), env_id: EnvId, project_id: ProjectId }),
  Schema.Struct({
    type: Schema.Literal("credential:changed"),
    credential: Schema.Literals(["api-key", "service-key", "session"]),
    id: Schema.String
  }),
  Schema.Struct({ type: Schema.Literal("domains:changed"), domain: Schema.String }),
  Schema.Struct({ type: Schema.Literal("tenants:changed") }),
  /** Deliveries wait that `node_id` has no room for; null: that nobody has claimed. */
  Schema.Struct({ type: Schema.Literal("deliveries:waiting"), node_id: Schema.NullOr(NodeId) }),
  /** What has happened since `since` may have been told to nobody, and is to be told from the store. */
  Schema.Struct({ type: Schema.Literal("activity:missing"), since: Timestamp }),
  /** There is a new schedule. */
  Schema.Struct({ type: Schema.Literal("schedules:changed") }),
  /** Runs of `node_id` were cancelled in the store; it is to stop them. */
  Schema.Struct({ type: Schema.Literal("runs:cancelled"), node_id: NodeId, run_ids: Schema.Array(RunId) })
])
export type News = typeof News.Type
