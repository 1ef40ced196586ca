/** Reads the arguments of requests: the same rules and messages as in the runtime. */
import { namedError, toFailure } from "../failures.ts"
import { parseDuration } from "./Duration.ts"
import { canonicalJson, type MatchPair } from "./EventMatch.ts"
import type { Settled } from "./History.ts"

const nameLengthMax = 256
const matchPairsMax = 16

/** Maximum sleep or timeout of a wait, in milliseconds: 365 days. */
const waitMaxMs = 365 * 24 * 3_600_000

/** Maximum characters of the JSON text of a result. */
const resultLengthMax = 256 * 1024

export const checkName = (method: string, name: unknown): string => {
  if (typeof name === "string" && name !== "" && name.length <= nameLengthMax) return name
  throw new TypeError(`svc.${method} takes a name of 1 to ${nameLengthMax} characters`)
}

/** Returns the time after a duration, in milliseconds since 1970. */
export const readEnd = (method: string, value: unknown, now: number): number => {
  const ms = parseDuration(value)
  if (ms !== null && ms <= waitMaxMs) return Math.round(now + ms)
  throw fault(method, 'the duration must be such as "500ms", "2h", "3d" or milliseconds, at most 365 days')
}

/** Returns the end of `sleepUntil`, at the earliest `now`. */
export const readInstant = (value: unknown, now: number): number => {
  const json: unknown = JSON.parse(JSON.stringify(value) ?? "null")
  const at = typeof json === "number" ? json : typeof json === "string" ? Date.parse(json) : Number.NaN
  if (Number.isFinite(at) && at <= now + waitMaxMs) return Math.max(now, at)
  throw fault("sleepUntil", "the time must be a Date, ISO 8601 text or milliseconds since 1970, at most 365 days ahead")
}

export interface EventRequest {
  readonly type: string
  readonly match: ReadonlyArray<MatchPair>
  readonly fromStart: boolean
  readonly until: number | null
}

export const readEventWait = (given: unknown, now: number): EventRequest => {
  if (typeof given !== "object" || given === null) throw new TypeError("svc.waitForEvent takes { event, … }")
  const fields = new Map<string, unknown>(Object.entries(JSON.parse(JSON.stringify(given))))
  const type = fields.get("event")
  if (typeof type !== "string" || type === "" || type.length > nameLengthMax) {
    throw fault("waitForEvent", `event must be an event type of 1 to ${nameLengthMax} characters`)
  }
  const since = fields.get("since")
  if (since !== undefined && since !== "start") throw fault("waitForEvent", 'since must be "start"')
  const timeout = fields.get("timeout")
  const until = timeout === undefined ? null : readEnd("waitForEvent", timeout, now)
  return { type, match: readMatch(fields.get("match")), fromStart: since === "start", until }
}

const readMatch = (match: unknown): ReadonlyArray<MatchPair> => {
  if (match === undefined || match === null) return []
  if (typeof match !== "object" || Array.isArray(match)) throw fault("waitForEvent", "match must be an object")
  const pairs = Object.entries(match).map(
    ([path, value]): MatchPair => [path.replace(/^data\./, ""), canonicalJson(value)]
  )
  if (pairs.length > matchPairsMax) throw fault("waitForEvent", `match may have at most ${matchPairsMax} paths`)
  if (pairs.every(([path, value]) => path.length + value.length <= 1024 && !path.split(".").includes(""))) return pairs
  throw fault("waitForEvent", "match must map paths such as order.id to values, together at most 1024 characters each")
}

const fault = (method: string, reason: string): TypeError => new TypeError(`svc.${method}: ${reason}`)

/** An attempt at a step that has ended. */
export interface EndedAttempt extends Settled {
  /** False if another attempt would return the same. */
  readonly isRepeatable: boolean
  /** Delay before the next attempt in milliseconds, from the error of this one. Null: the delay of the policy. */
  readonly afterMs: number | null
}

/** Runs the body of a step once. */
export const attemptOnce = async (name: string, now: number, body: () => unknown): Promise<EndedAttempt> => {
  try {
    const text = toText(name, await callBody(body))
    if (text === null || text.length <= resultLengthMax) return { ok: true, text, isRepeatable: true, afterMs: null }
  } catch (thrown) {
    return { ...failed(thrown), ...readRetryHint(thrown, now) }
  }
  const message = `the result of the step "${name}" has over ${resultLengthMax} characters of JSON: store it in svc.files and return its path`
  return {
    ...failed(Object.assign(namedError("ResultTooLarge", message), { stack: "" })),
    isRepeatable: false,
    afterMs: null
  }
}

/** Calls the body of a step. Takes as many microtasks as the runtime, which orders steps that end together. */
const callBody = (body: () => unknown): Promise<unknown> => new Promise((done) => done(Promise.resolve(body())))

/** Returns what an error says about further attempts. */
const readRetryHint = (thrown: unknown, now: number): Pick<EndedAttempt, "isRepeatable" | "afterMs"> => {
  if (typeof thrown !== "object" || thrown === null) return { isRepeatable: true, afterMs: null }
  const retryAfter: unknown = Reflect.get(thrown, "retryAfter")
  const isNamedFinal = Reflect.get(thrown, "nonRetryable") === true || Reflect.get(thrown, "name") === "NonRetryable"
  const isFinal = isNamedFinal || thrown instanceof NotSerializable
  const ms = retryAfter instanceof Date ? Number(retryAfter) - now : toMillis(retryAfter)
  const afterMs = ms === null || !Number.isFinite(ms) ? null : Math.min(Math.max(0, Math.trunc(ms)), waitMaxMs)
  return { isRepeatable: !isFinal, afterMs }
}

/** Returns a number as it is, and the milliseconds of a duration. */
const toMillis = (value: unknown): number | null =>
  typeof value === "number" ? value : typeof value === "string" ? parseDuration(value) : null

/** Returns the result of a failed request. */
export const failed = (thrown: unknown): Settled => ({ ok: false, text: JSON.stringify(toFailure(thrown)) })

class NotSerializable extends Error {
  override readonly name = "NotSerializable"
}

/** Returns the result of a step as JSON text; null for `undefined`. */
const toText = (step: string, value: unknown): string | null => {
  if (value === undefined) return null
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (thrown) {
    throw new NotSerializable(
      `the result of the step ${JSON.stringify(step)} is not JSON: ${toFailure(thrown).message}`
    )
  }
  if (text !== undefined) return text
  throw new NotSerializable(`the result of the step ${JSON.stringify(step)} is a ${typeof value}, which is not JSON`)
}

/** Returns the error of a failed request: never the instance that was thrown. */
export const toError = ({ text }: Settled): Error => {
  const { name, message, stack }: { readonly name: string; readonly message: string; readonly stack: string } =
    JSON.parse(text ?? '{"name":"Error","message":"","stack":""}')
  return Object.assign(namedError(name, message), { stack })
}

/** Returns the value of a request. */
export const toValue = ({ text }: Settled): unknown => (text === null ? undefined : JSON.parse(text))
