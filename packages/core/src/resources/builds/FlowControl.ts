/** Flow control of a function: which deliveries it gets, and when they start (`docs/flow-control.md`). */
import { Result, Schema } from "effect"
import { compileExpression, expressionLengthMax } from "./Expression.ts"
import {
  fault,
  optional,
  type Read,
  readDuration,
  readInteger,
  readObject,
  readOneOf,
  readOneOrMore,
  readText
} from "./MetaFields.ts"

/** An expression whose values have separate limits. Null for one limit per function. */
const key = Schema.NullOr(Schema.String)

/** Maximum starts within any period. */
const Rate = Schema.Struct({ limit: Schema.Int, period_ms: Schema.Int, key })

export const FlowControl = Schema.Struct({
  /** Time from an event to the last possible start of its first run. */
  ttl_ms: Schema.optionalKey(Schema.Int),
  /** Only the first event with a value is handled, until the window ends. */
  dedupe: Schema.optionalKey(Schema.Struct({ key: Schema.String, window_ms: Schema.Int })),
  /** Events beyond the rate are not handled. */
  rate_limit: Schema.optionalKey(Rate),
  /** Runs beyond the rate start later. */
  throttle: Schema.optionalKey(Rate),
  /** Of events in quick succession, only the last one is handled. */
  debounce: Schema.optionalKey(Schema.Struct({ period_ms: Schema.Int, max_ms: Schema.NullOr(Schema.Int), key })),
  /** Events are not handled while a delivery of the same key is pending or running; or they replace it. */
  singleton: Schema.optionalKey(Schema.Struct({ key, mode: Schema.optionalKey(Schema.Literal("cancel")) })),
  /** One run handles up to `size` events: those of a key that come within `timeout_ms`. */
  batch: Schema.optionalKey(Schema.Struct({ size: Schema.Int, timeout_ms: Schema.Int, key })),
  /** Events of these types cancel earlier deliveries and runs with the same value of `match`, if `if` is true for them. */
  cancel_on: Schema.optionalKey(
    Schema.Struct({ events: Schema.Array(Schema.String), match: Schema.String, if: Schema.optionalKey(Schema.String) })
  ),
  /** Seconds by which the first run starts ahead of others, or an expression for them. */
  priority: Schema.optionalKey(Schema.Union([Schema.Int, Schema.String]))
})
export type FlowControl = typeof FlowControl.Type

/** Keys of `meta` that this file reads. */
export const flowKeys = [
  "if",
  "ttl",
  "dedupe",
  "rateLimit",
  "throttle",
  "debounce",
  "singleton",
  "batch",
  "priority",
  "cancelOn"
]

const day = 86_400_000

const periodMaxMs = 7 * day
const ttlMaxMs = 365 * day

/** Maximum starts per period. The store keeps the time of each. */
const limitMax = 1_000

/** Maximum events of a batch. */
const batchSizeMax = 100

const batchTimeoutMinMs = 1_000
const batchTimeoutMaxMs = 900_000

/** Maximum event types that cancel the runs of a function. */
const cancellingTypesMax = 10

/** Maximum of a priority, and so of the time for which a run can be overtaken, in seconds. */
export const prioritySecondsMax = 3_600

type Fields = Readonly<Record<string, unknown>>

/** Reads the flow control of a function; undefined without any. */
export const readFlowControl = (fields: Fields): Read<FlowControl | undefined> =>
  Result.gen(function* () {
    yield* checkCombinations(fields)
    const batch = yield* given(fields.batch, (value) => readBatch(value, fields))
    const ttl_ms = yield* given(fields.ttl, (value) => readDuration("ttl", value, 1, ttlMaxMs))
    const dedupe = yield* given(fields.dedupe, readDedupe)
    const rate_limit = yield* given(fields.rateLimit, (value) => readRate("rateLimit", value))
    const throttle = yield* given(fields.throttle, (value) => readRate("throttle", value))
    const debounce = yield* given(fields.debounce, readDebounce)
    const singleton = yield* given(fields.singleton, readSingleton)
    const priority = yield* given(fields.priority, readPriority)
    const cancel_on = yield* given(fields.cancelOn, readCancelOn)
    if (batch !== undefined && ttl_ms !== undefined && ttl_ms <= batch.timeout_ms) {
      return yield* fault("ttl", "must be longer than batch.timeout: it counts from the first event of a batch")
    }
    const control: FlowControl = {
      ...(ttl_ms === undefined ? {} : { ttl_ms }),
      ...(dedupe === undefined ? {} : { dedupe }),
      ...(rate_limit === undefined ? {} : { rate_limit }),
      ...(throttle === undefined ? {} : { throttle }),
      ...(debounce === undefined ? {} : { debounce }),
      ...(singleton === undefined ? {} : { singleton }),
      ...(batch === undefined ? {} : { batch }),
      ...(priority === undefined ? {} : { priority }),
      ...(cancel_on === undefined ? {} : { cancel_on })
    }
    return Object.keys(control).length === 0 ? undefined : control
  })

/** Reads the condition of a function on its events; undefined without one. */
export const readCondition = (fields: Fields): Read<string | undefined> => {
  if (fields.if === undefined) return Result.succeed(undefined)
  return fields.event === undefined
    ? fault("if", "must not be set for a function without an event: it selects events")
    : readExpression("if", fields.if, "bool")
}

/** Reads a value; undefined without one. */
const given = <A>(value: unknown, read: (value: unknown) => Read<A>): Read<A | undefined> =>
  value === undefined ? Result.succeed(undefined) : read(value)

/** Pairs of controls of which each would defeat the other. */
const exclusive = [
  ["singleton", "concurrency", "a singleton has one run at a time"],
  ["singleton", "debounce", "a singleton ignores events while one is pending, so none could replace it"],
  ["rateLimit", "debounce", "the rate would drop the last event, which a debounce keeps"],
  ["priority", "debounce", "a debounce decides when its run starts"],
  ["batch", "debounce", "a debounce handles only the last event, and a batch all of them"],
  ["batch", "singleton", "a singleton leaves out events while one is pending, so none could join it"],
  ["batch", "cancelOn", "it would cancel other events of the batch as well"]
] as const

const checkCombinations = (fields: Fields): Read<void> => {
  const found = exclusive.find(([a, b]) => fields[a] !== undefined && fields[b] !== undefined)
  return found === undefined
    ? Result.succeed(undefined)
    : fault(found[0], `must not be set together with ${found[1]}: ${found[2]}`)
}

const readDedupe = (value: unknown) =>
  Result.gen(function* () {
    const dedupe = yield* readObject("dedupe", value, ["key", "window"])
    return {
      key: yield* readExpression("dedupe.key", dedupe.key, "any"),
      window_ms: yield* readDuration("dedupe.window", dedupe.window, 1, periodMaxMs)
    }
  })

const readRate = (field: string, value: unknown) =>
  Result.gen(function* () {
    const rate = yield* readObject(field, value, ["limit", "period", "key"])
    return {
      limit: yield* readInteger(`${field}.limit`, rate.limit, 1, limitMax),
      period_ms: yield* readDuration(`${field}.period`, rate.period, 1, periodMaxMs),
      key: yield* readKey(field, rate.key)
    }
  })

const readDebounce = (value: unknown) =>
  Result.gen(function* () {
    const debounce = yield* readObject("debounce", value, ["period", "max", "key"])
    const period_ms = yield* readDuration("debounce.period", debounce.period, 1, periodMaxMs)
    return {
      period_ms,
      max_ms: yield* optional(debounce.max, null, (it) => readDuration("debounce.max", it, period_ms, periodMaxMs)),
      key: yield* readKey("debounce", debounce.key)
    }
  })

const readSingleton = (value: unknown) =>
  Result.gen(function* () {
    const singleton = yield* readObject("singleton", value, ["key", "mode"])
    const key = yield* readKey("singleton", singleton.key)
    const mode = yield* readOneOf("singleton.mode", singleton.mode ?? "skip", ["skip", "cancel"])
    return { key, ...(mode === "cancel" ? { mode } : {}) }
  })

const readBatch = (value: unknown, { event }: Fields) =>
  Result.gen(function* () {
    if (event === undefined) return yield* fault("batch", "must not be set for a function without an event")
    const events = Array.isArray(event) ? event : [event]
    if (events.some((type) => typeof type === "string" && type.startsWith("svc:"))) {
      return yield* fault("batch", "must not be set for a function that handles events of the system (svc:)")
    }
    const batch = yield* readObject("batch", value, ["size", "timeout", "key"])
    return {
      size: yield* readInteger("batch.size", batch.size, 1, batchSizeMax),
      timeout_ms: yield* readDuration("batch.timeout", batch.timeout, batchTimeoutMinMs, batchTimeoutMaxMs),
      key: yield* readKey("batch", batch.key)
    }
  })

const readCancelOn = (value: unknown) =>
  Result.gen(function* () {
    const field = "cancelOn"
    const fields = yield* readObject(field, value, ["event", "match", "if"])
    const events = yield* readOneOrMore(`${field}.event`, fields.event, readExactType)
    if (events.length > cancellingTypesMax) {
      return yield* fault(`${field}.event`, `must have at most ${cancellingTypesMax} event types`)
    }
    const match = yield* readExpression(`${field}.match`, fields.match, "any")
    const condition = yield* given(fields.if, (it) => readExpression(`${field}.if`, it, "bool"))
    return { events, match, ...(condition === undefined ? {} : { if: condition }) }
  })

/** Reads an event type without `*`, so that one look-up finds the functions that an event cancels. */
const readExactType = (field: string, value: unknown): Read<string> =>
  Result.flatMap(readText(field, value, 256), (type) => {
    if (type.startsWith("svc:")) return fault(field, "must not start with svc:, which is reserved")
    return type.endsWith("*") ? fault(field, "must be an exact event type, without *") : Result.succeed(type)
  })

const readPriority = (value: unknown): Read<number | string> =>
  typeof value === "string"
    ? readExpression("priority", value, "any")
    : readInteger("priority", value, 0, prioritySecondsMax)

const readKey = (field: string, value: unknown): Read<string | null> =>
  optional(value, null, (it) => readExpression(`${field}.key`, it, "any"))

/** Reads an expression. A fault contains its position in the text. */
const readExpression = (field: string, value: unknown, wanted: "bool" | "any"): Read<string> =>
  Result.flatMap(readText(field, value, expressionLengthMax), (text) =>
    Result.match(compileExpression(text, wanted), {
      onSuccess: () => Result.succeed(text),
      onFailure: ({ reason, position }) =>
        fault(field, `must be an expression such as event.data.total > 100: at character ${position}, ${reason}`)
    })
  )
