/**
 * A delivery: the durable intent to run a handler for an event, until its last attempt is settled. Not part of the API.
 *
 *     pending --claim--> running --last attempt--> deleted
 *       ^                   |
 *       +---- next attempt -+        deliveries of a dead node are pending again
 */
import { Schema } from "effect"
import { BuildId, DeliveryId, EnvId, EventId, ProjectId, RunId, StreamId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { OnFailure } from "../../resources/builds/OnFailure.ts"
import { RecordingRules } from "../../resources/builds/RecordingRules.ts"
import { RetryPolicy } from "../../resources/builds/RetryPolicy.ts"
import { EventBatch } from "./EventBatch.ts"
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
  /** Runs with the same key share a limit in their environment; null without a limit. */
  group: Schema.NullOr(Schema.Struct({ key: Schema.String, limit: Schema.Int })),
  /** Number of the current or next attempt, from 1. */
  attempt: Schema.Int,
  /** Earliest time of that attempt. */
  due_at: Timestamp,
  /** Run whose code published the event; null if none did. */
  caused_by: Schema.NullOr(RunId),
  /** Number of runs before it in its chain: each was caused by an event that the previous one published. */
  depth: Schema.Int,
  /** Run of the first attempt; null before it. */
  first_run_id: Schema.NullOr(RunId),
  /** True if the function is durable. */
  durable: Schema.Boolean,
  /** The suspended run that this delivery continues; null for a delivery that starts a run. */
  continues: Schema.NullOr(RunId),
  /** True if the run `caused_by` waits for the end of the delivery. */
  awaited: Schema.optionalKey(Schema.Literal(true)),
  /** Time from the event to the last possible start of the first run; without it, there is no limit. */
  ttl_ms: Schema.optionalKey(Schema.Int),
  /** Runs with the same key start at most this often in their environment. */
  throttle: Schema.optionalKey(Schema.Struct({ key: Schema.String, limit: Schema.Int, period_ms: Schema.Int })),
  /** The function that is called after the last attempt failed. */
  on_failure: Schema.optionalKey(OnFailure),
  /** The recording of its runs; without it, none are recorded. */
  recording: Schema.optionalKey(RecordingRules),
  /** Events cancel deliveries and runs with this key (`cancelOn`). */
  cancel_key: Schema.optionalKey(Schema.String),
  /** The events that its run handles together, of which `event_id` is the first; absent for a single event. */
  batch: Schema.optionalKey(EventBatch),
  /** Span of the publication in W3C format, if there was a tracer. Its runs belong to that trace. */
  traceparent: Schema.optionalKey(Schema.String)
})
export type Delivery = typeof Delivery.Type
