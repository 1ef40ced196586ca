/** Records of durable runs, an extension of the specification. */
import { hasSecretResult, type OpenWait, RequestKind, StepRecord, WaitingFor, WaitRecord } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { Instant, instant, jsonValue } from "./Wire.ts"

const until = Schema.NullOr(instant("2026-02-03T12:00:00.000Z"))

export const WaitingRecord = Schema.Struct({
  for: example(WaitingFor, "timer"),
  name: example(Schema.String, "settle"),
  since: Instant,
  until
}).annotate({ identifier: "Waiting" })

/** Fields that only durable runs have. */
export const durableFields = {
  durable: Schema.optionalKey(
    Schema.Literal(true).annotate({ description: "Extension: present for durable runs only, as the following fields" })
  ),
  waiting: Schema.optionalKey(
    Schema.NullOr(WaitingRecord).annotate({
      description: "Extension: the wait of a suspended run that ends first; null while it is active and after its end"
    })
  ),
  steps: Schema.optionalKey(Schema.Int.annotate({ description: "Extension: number of recorded results" })),
  activations: Schema.optionalKey(
    Schema.Int.annotate({ description: "Extension: times that the run entered an isolate, from 1" })
  )
}

export const RunStepRecord = Schema.Struct({
  position: example(StepRecord.fields.position, 0),
  seq: example(StepRecord.fields.seq, 0),
  kind: example(RequestKind, "step"),
  name: example(StepRecord.fields.name, "charge"),
  ok: StepRecord.fields.ok,
  result: Schema.optionalKey(
    Schema.NullOr(jsonValue({ receipt: "r-1042" })).annotate({
      description: "Null if the request failed or has no result; absent if the result is a secret"
    })
  ),
  error: Schema.NullOr(jsonValue(null)).annotate({
    description: "`{name, message, stack}` if the request failed, else null"
  }),
  attempts: example(StepRecord.fields.attempts, 1),
  started_at: Instant,
  ended_at: Instant
}).annotate({ identifier: "RunStep" })

/** Returns the record of a step. */
export const toStepRecord = ({ result, ok, kind, ...step }: StepRecord): typeof RunStepRecord.Type => ({
  ...step,
  ...{ ok, kind, error: ok ? null : result },
  ...(hasSecretResult(kind) ? {} : { result: ok ? result : null })
})

export const RunWaitRecord = Schema.Struct({
  ...Struct.pick(WaitRecord.fields, ["seq"]),
  kind: example(RequestKind, "sleep"),
  name: example(WaitRecord.fields.name, "settle"),
  event_type: WaitRecord.fields.event_type.annotate({ description: "Type of the awaited event; null for other kinds" }),
  child_event_id: WaitRecord.fields.child_event_id.annotate({
    description: "For `run`: the event that starts the child run; null for other kinds"
  }),
  attempts: WaitRecord.fields.attempts.annotate({ description: "For `step`: failed attempts so far" }),
  since: Instant,
  until
}).annotate({ identifier: "RunWait" })

/** Returns the record of a wait. */
export const toWaitRecord = (wait: OpenWait): typeof RunWaitRecord.Type => wait
