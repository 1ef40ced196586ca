/** Notifications between the parts of a node and between nodes, which replace polling. */
import { Schema } from "effect"
import { BuildId, EnvId, NodeId, ProjectId, RunId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { NodeSummary } from "./NodeSummary.ts"

export const ControlMessage = Schema.Union([
  Schema.Struct({ type: Schema.Literal("deployments:changed"), env_id: EnvId }),
  /** A build was released from quarantine. */
  Schema.Struct({ type: Schema.Literal("quarantine:cleared"), build_id: BuildId }),
  Schema.Struct({ type: Schema.Literal("context:changed"), env_id: EnvId, project_id: ProjectId }),
  Schema.Struct({
    type: Schema.Literal("credential:changed"),
    credential: Schema.Literals(["api-key", "service-key", "session"]),
    id: Schema.String
  }),
  Schema.Struct({ type: Schema.Literal("domains:changed"), domain: Schema.String }),
  Schema.Struct({ type: Schema.Literal("tenants:changed") }),
  /** Deliveries are pending that exceed the capacity of `node_id`; null: that no node has claimed. */
  Schema.Struct({ type: Schema.Literal("deliveries:waiting"), node_id: Schema.NullOr(NodeId) }),
  /** Activity since `since` may not have been published. Subscribers must read it from the store. */
  Schema.Struct({ type: Schema.Literal("activity:missing"), since: Timestamp }),
  /** A schedule was created, or postponed ticks are due. */
  Schema.Struct({ type: Schema.Literal("schedules:changed") }),
  /** Durable runs wait for events of this type. */
  Schema.Struct({ type: Schema.Literal("workflows:awaiting"), env_id: EnvId, event_type: Schema.String }),
  /** Events were given to waits of these durable runs, in the store. The nodes that execute them must read them. */
  Schema.Struct({ type: Schema.Literal("workflows:arrived"), run_ids: Schema.Array(RunId) }),
  /** Cleanups were requested of these durable runs, in the store. The nodes that execute them must begin them. */
  Schema.Struct({ type: Schema.Literal("workflows:cancelled"), run_ids: Schema.Array(RunId) }),
  /** A pause began, changed or ended. */
  Schema.Struct({ type: Schema.Literal("pauses:changed") }),
  /** A canary began or ended. */
  Schema.Struct({ type: Schema.Literal("canaries:changed") }),
  /** An operator lists the nodes: each answers. */
  Schema.Struct({ type: Schema.Literal("nodes:asked") }),
  Schema.Struct({ type: Schema.Literal("nodes:answered"), node: NodeSummary }),
  /** A resource has changed: its subscribers must be notified. */
  Schema.Struct({ type: Schema.Literal("mcp:updated"), env_id: EnvId, uri: Schema.String }),
  /** The state of a client's session changed: every node keeps it. */
  Schema.Struct({
    type: Schema.Literal("mcp:session"),
    env_id: EnvId,
    session: Schema.String,
    change: Schema.Union([
      Schema.Struct({ level: Schema.String }),
      Schema.Struct({ uri: Schema.String, isSubscribed: Schema.Boolean }),
      Schema.Struct({ hasEnded: Schema.Literal(true) })
    ])
  }),
  /** A client answered a request that a run on another node waits for. `answer` is JSON text. */
  Schema.Struct({
    type: Schema.Literal("mcp:answered"),
    session: Schema.String,
    request_id: Schema.String,
    answer: Schema.String
  }),
  /** A client cancelled a call that may run on another node. `request_id` is JSON text. */
  Schema.Struct({ type: Schema.Literal("mcp:cancelled"), session: Schema.String, request_id: Schema.String }),
  /** Runs of `node_id` were cancelled in the store. That node must stop them. */
  Schema.Struct({ type: Schema.Literal("runs:cancelled"), node_id: NodeId, run_ids: Schema.Array(RunId) })
])
export type ControlMessage = typeof ControlMessage.Type
