/**
 * Requests of a durable function to its host: the payloads of the host calls `workflow.*`. Untrusted until decoded.
 *
 * The result of a step follows its description after a line break, so that it is neither parsed twice nor escaped.
 */
import { Effect, Result, Schema } from "effect"
import { isDeeper } from "../../foundation/JsonDepth.ts"
import { JsonText } from "../../foundation/JsonText.ts"
import { isStorable } from "../../foundation/StorableText.ts"
import { parseDuration } from "../../foundation/time/Duration.ts"
import { addMillis, parseInstant, type Timestamp } from "../../foundation/time/Timestamp.ts"
import { HostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import type { RetryPolicy } from "../../resources/builds/RetryPolicy.ts"
import { readRetry } from "../../resources/builds/Triggers.ts"
import { canonicalJson, type MatchPair, pairLengthMax } from "../runs/EventMatch.ts"
import { stallSeq } from "../runs/Workflow.ts"
import { payloadLevelsMax } from "../svc/Operation.ts"
import type { FunctionCall } from "./DurableCalls.ts"

/** Maximum characters of the name of a step or wait. */
const nameLengthMax = 256

/** Maximum sleep or timeout of a wait, in milliseconds: 365 days. */
const waitMaxMs = 365 * 24 * 3_600_000

/** Maximum pairs in the `match` of a wait. */
const matchPairsMax = 16

const Name = Schema.String.check(
  Schema.makeFilter((name) => name.length > 0 && name.length <= nameLengthMax && isStorable(name), {
    message: `name must be a string of 1 to ${nameLengthMax} characters`
  })
)

const Seq = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** Returns a decoder of JSON text, which is compiled once. */
const makeDecoder = <A>(schema: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  return (method: string, text: string): Effect.Effect<A, HostCallRefused> =>
    isDeeper(text, payloadLevelsMax)
      ? refuse(method, `its arguments are nested deeper than ${payloadLevelsMax} levels`)
      : Effect.catchTag(decode(text), "SchemaError", ({ message }) => refuse(method, message))
}

/** The end of one attempt at a step. */
const StepHeader = Schema.Struct({
  seq: Seq,
  name: Name,
  ok: Schema.Boolean,
  /** Number of the attempt, from 1. */
  attempt: Seq,
  /** Duration of the attempt in milliseconds, by the clock of the isolate. */
  ms: Schema.Number,
  retry: Schema.optionalKey(Schema.Json),
  /** Delay before the next attempt in milliseconds, from the error of this one. */
  after: Schema.optionalKey(Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: waitMaxMs })))
})

const decodeHeader = makeDecoder(StepHeader)

export interface StepReport extends Omit<typeof StepHeader.Type, "retry" | "after"> {
  /** The result; null for `undefined`. If `ok` is false, the error as `{name, message, stack}`. */
  readonly result: JsonText | null
  /** Null: the policy of the function. */
  readonly retry: RetryPolicy | null
  /** Null: the delay of the policy. */
  readonly afterMs: number | null
}

export const decodeStep = (payload: string): Effect.Effect<StepReport, HostCallRefused> =>
  Effect.gen(function* () {
    const end = payload.indexOf("\n")
    const { retry, after = null, ...header } = yield* decodeHeader("step", end < 0 ? payload : payload.slice(0, end))
    const text = end < 0 ? "" : payload.slice(end + 1)
    return {
      ...header,
      afterMs: after,
      result: text === "" ? null : yield* requireJson(text),
      retry: retry === undefined ? null : yield* toRefusal("step", readRetry(retry))
    }
  })

/** The guest can do nothing until a wait ends. */
const IdlePayload = Schema.Struct({
  /** Answers to requests that the guest has received. */
  answers: Schema.Int,
  /** Number of the first request that was not cancelled. */
  from: Schema.optionalKey(Seq)
})

const decodeIdlePayload = makeDecoder(IdlePayload)

export const decodeIdle = (payload: string) => decodeIdlePayload("idle", payload)

const WaitPayload = Schema.Struct({
  seq: Seq,
  name: Name,
  /** `step`: the pause before the next attempt, which is already recorded. */
  kind: Schema.Literals(["sleep", "event", "completion", "run", "step"]),
  /** For `sleep`: a duration. For `event`: the timeout. */
  ms: Schema.optionalKey(Schema.Json),
  /** For `sleep`: the end, as ISO 8601 or milliseconds since 1970. */
  until: Schema.optionalKey(Schema.Json),
  event: Schema.optionalKey(Schema.Json),
  match: Schema.optionalKey(Schema.Json),
  since: Schema.optionalKey(Schema.Json),
  /** For `run`. */
  fn: Schema.optionalKey(Schema.String),
  args: Schema.optionalKey(Schema.Array(Schema.Json)),
  /** For `completion`: the `seq` of the token. */
  token: Schema.optionalKey(Seq)
})

const decodePayload = makeDecoder(WaitPayload)

export interface WaitRequest {
  readonly seq: number
  readonly name: string
  readonly kind: "sleep" | "event" | "completion" | "run" | "step"
  /** Null: without an end of its own. */
  readonly until: Timestamp | null
  readonly event_type: string | null
  readonly match: ReadonlyArray<MatchPair>
  /** For `completion`: the `seq` of the token, whose expiry ends the wait. */
  readonly token_seq: number | null
  /** True if events since the start of the run count, and not only those since the wait. */
  readonly fromStart: boolean
  /** The child run to start; null for other kinds. */
  readonly call: FunctionCall | null
}

/** Fields that not every kind of wait has. */
const plain = { until: null, event_type: null, match: [], token_seq: null, fromStart: false, call: null }

export const decodeWait = (payload: string, now: Timestamp): Effect.Effect<WaitRequest, HostCallRefused> =>
  Effect.gen(function* () {
    const {
      kind,
      ms,
      until,
      event,
      match,
      since,
      token,
      fn = "",
      args = [],
      ...id
    } = yield* decodePayload("wait", payload)
    if (kind === "step") return { ...plain, ...id, kind }
    if (kind === "completion") {
      if (token === undefined) return yield* refuse("waitForToken", "token is missing")
      return { ...plain, ...id, kind, token_seq: token }
    }
    if (kind === "run") {
      const end = ms === undefined ? null : yield* readEnd("invoke", ms, now)
      return { ...plain, ...id, kind, until: end, call: { fn, args } }
    }
    if (kind === "sleep") {
      const end = until === undefined ? yield* readEnd("sleep", ms, now) : yield* readInstant(until, now)
      return { ...plain, ...id, kind, until: end }
    }
    if (typeof event !== "string" || event === "" || event.length > nameLengthMax || !isStorable(event)) {
      return yield* refuse("waitForEvent", `event must be an event type of 1 to ${nameLengthMax} characters`)
    }
    if (since !== undefined && since !== "start") return yield* refuse("waitForEvent", 'since must be "start"')
    return {
      ...{ ...plain, ...id, kind, event_type: event, fromStart: since === "start" },
      until: ms === undefined ? null : yield* readEnd("waitForEvent", ms, now),
      match: yield* readMatch(match)
    }
  })

const CallPayload = Schema.Struct({ seq: Seq, name: Name, fn: Schema.String, args: Schema.Array(Schema.Json) })

const decodeCallPayload = makeDecoder(CallPayload)

/** Decodes a call in the background. */
export const decodeCall = (payload: string) => decodeCallPayload("call", payload)

/** Maximum number of a version. */
const versionMax = 1_000_000

const VersionPayload = Schema.Struct({
  /** Below the reserved numbers, see `StepRecord`. */
  seq: Schema.Int.check(Schema.isLessThan(stallSeq)),
  name: Name,
  max: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: versionMax }))
})

const decodeVersionPayload = makeDecoder(VersionPayload)

export const decodeVersion = (payload: string) => decodeVersionPayload("version", payload)

const ContinuePayload = Schema.Struct({ args: Schema.Array(Schema.Json) })

const decodeContinuePayload = makeDecoder(ContinuePayload)

/** Decodes the arguments of the next run. */
export const decodeArgs = (payload: string) =>
  Effect.map(decodeContinuePayload("continueAsNew", payload), ({ args }) => args)
const TokenPayload = Schema.Struct({ seq: Seq, name: Name, ms: Schema.optionalKey(Schema.Json) })

const decodeTokenPayload = makeDecoder(TokenPayload)

export interface TokenRequest {
  readonly seq: number
  readonly name: string
  /** Null: with the run. */
  readonly expires_at: Timestamp | null
}

export const decodeToken = (payload: string, now: Timestamp): Effect.Effect<TokenRequest, HostCallRefused> =>
  Effect.gen(function* () {
    const { seq, name, ms } = yield* decodeTokenPayload("createToken", payload)
    return { seq, name, expires_at: ms === undefined ? null : yield* readEnd("createToken", ms, now) }
  })

const readEnd = (method: string, value: Schema.Json | undefined, now: Timestamp) => {
  const ms = parseDuration(value)
  return ms === null || ms > waitMaxMs
    ? refuse(method, 'the duration must be such as "500ms", "2h", "3d" or milliseconds, at most 365 days')
    : Effect.succeed(addMillis(now, ms))
}

const readInstant = (value: Schema.Json, now: Timestamp) => {
  const at = typeof value === "number" ? value : typeof value === "string" ? parseInstant(value) : null
  return at === null || !Number.isFinite(at) || at > now + waitMaxMs
    ? refuse("sleepUntil", "the time must be a Date, ISO 8601 text or milliseconds since 1970, at most 365 days ahead")
    : Effect.succeed(addMillis(now, Math.max(0, at - now)))
}

const readMatch = (match: Schema.Json | undefined): Effect.Effect<ReadonlyArray<MatchPair>, HostCallRefused> => {
  if (match === undefined || match === null) return Effect.succeed([])
  if (typeof match !== "object" || Array.isArray(match)) return refuse("waitForEvent", "match must be an object")
  const entries = Object.entries(match)
  if (entries.length > matchPairsMax) return refuse("waitForEvent", `match may have at most ${matchPairsMax} paths`)
  const pairs: Array<MatchPair> = []
  for (const [given, required] of entries) {
    const path = given.replace(/^data\./, "")
    const value = canonicalJson(required)
    const isValid = value !== null && path.length + value.length <= pairLengthMax && !path.split(".").includes("")
    if (!isValid) {
      return refuse(
        "waitForEvent",
        `match must map paths such as order.id to values, together at most ${pairLengthMax} characters each`
      )
    }
    pairs.push([path, value])
  }
  return Effect.succeed(pairs)
}

const requireJson = (text: string): Effect.Effect<JsonText, HostCallRefused> =>
  Effect.try({
    try: () => {
      JSON.parse(text)
      return JsonText.make(text, { disableChecks: true })
    },
    catch: () => new HostCallRefused({ name: "TypeError", message: "the result of a step is not JSON" })
  })

const toRefusal = <A>(method: string, read: Result.Result<A, { readonly field: string; readonly reason: string }>) =>
  Result.isSuccess(read) ? Effect.succeed(read.success) : refuse(method, `${read.failure.field} ${read.failure.reason}`)

const refuse = (method: string, reason: string) =>
  Effect.fail(new HostCallRefused({ name: "TypeError", message: `svc.${method}: ${reason}` }))
