/** The recording of runs that a function declares with `meta.record`: what is recorded, of which runs, and for how long. */
import { Result, Schema } from "effect"
import {
  fault,
  optional,
  type Read,
  readBoolean,
  readDuration,
  readEach,
  readNumber,
  readObject,
  readText
} from "./MetaFields.ts"

export const RecordingRules = Schema.Struct({
  /** True if host calls are recorded, and not only the input and the result. */
  host_calls: Schema.Boolean,
  /** Share of the runs, more than 0 and at most 1. */
  share: Schema.Number,
  /** Names of fields, or ends of their paths, whose values are not recorded. */
  redact: Schema.Array(Schema.String),
  /** Keys of context variables whose values are recorded. Those of all others are replaced. */
  context: Schema.Array(Schema.String),
  /** Time for which recordings are kept. */
  retention_ms: Schema.Int
})
export type RecordingRules = typeof RecordingRules.Type

/** Maximum names in `redact` and `context`, and characters of each. */
const namesMax = 100
const nameLengthMax = 128

const day = 86_400_000
const retentionDefaultMs = 7 * day
const retentionMaxMs = 30 * day

/** Reads `record` if it is an object. */
export const readRecordingRules = (value: unknown): Read<RecordingRules> =>
  Result.gen(function* () {
    const keys = ["inputs", "hostCalls", "share", "redact", "context", "retention"]
    const record = yield* readObject("record", value, keys)
    if (!(yield* readBoolean("record.inputs", record.inputs))) {
      return yield* fault("record.inputs", "must be true: without its input, a run cannot be replayed")
    }
    const share = yield* optional(record.share, 1, (it) => readNumber("record.share", it, 0, 1))
    if (share === 0) return yield* fault("record.share", "must be more than 0")
    return {
      host_calls: yield* optional(record.hostCalls, false, (it) => readBoolean("record.hostCalls", it)),
      share,
      redact: yield* optional(record.redact, [], (it) => readNames("record.redact", it)),
      context: yield* optional(record.context, [], (it) => readNames("record.context", it)),
      retention_ms: yield* optional(record.retention, retentionDefaultMs, (it) =>
        readDuration("record.retention", it, 60_000, retentionMaxMs)
      )
    }
  })

const readNames = (field: string, value: unknown): Read<ReadonlyArray<string>> =>
  Array.isArray(value) && value.length <= namesMax
    ? readEach(field, value, (at, name) => readText(at, name, nameLengthMax))
    : fault(field, `must be an array of at most ${namesMax} names`)
