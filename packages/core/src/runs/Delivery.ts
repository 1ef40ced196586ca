/**
 * A delivery: the durable intent to run a handler for an event, until it ends. Internal, never in the API.
 *
 * Pure data and pure decisions: `now`, ids and random draws come in.
 *
 *     waiting --claim--> running --afterAttempt--> gone
 *       ^                   |
 *       +---- next attempt -+        a node that dies gives its deliveries back
 */
import { Schema } from "effect"
import { RetryPolicy } from "../builds/Retry.ts"
import { BuildId, DeliveryId, EnvId, EventId, ProjectId, RunId, StreamId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"
import { RunType } from "./Run.ts"

export const Delivery = Schema.Struct({
  delivery_id: DeliveryId,
  env_id: EnvId,
  event_id: EventId,
  stream_id: StreamId,
  project_id: ProjectId,
  project_name: Schema.String,
  build_id: BuildId,
  ns: Schema.String,
  var: Schema.String,
  run_type: RunType,
  retry: RetryPolicy,
  timeout_ms: Schema.Int,
  /** Runs with the same key share a limit in their environment; null: no limit. */
  group: Schema.NullOr(Schema.Struct({ key: Schema.String, limit: Schema.Int })),
  /** The attempt that runs or comes next, from 1. */
  attempt: Schema.Int,
  /** The earliest instant of that attempt. */
  due_at: Timestamp,
  /** The run whose code published the event, if one did. */
  caused_by: Schema.NullOr(RunId),
  /** The run of the first attempt, once there was one. */
  first_run_id: Schema.NullOr(RunId),
  /** The span that set it off, as W3C has it, where there was a tracer: its runs belong to that trace. */
  traceparent: Schema.optionalKey(Schema.String)
})
export type Delivery = typeof Delivery.Type
