/** Failures of functions in the background: the event about them, and the functions that `onFailure` names. */
import { Result, Schema } from "effect"
import type { FunctionRef } from "../../platform/sandbox/Sandbox.ts"
import { fault, type Read, readText } from "./MetaFields.ts"
import { RetryPolicy } from "./RetryPolicy.ts"

/** Type of the event about a run that failed for good. Only Weft publishes it, and only handlers of exactly this type get it. */
export const failureEventType = "svc:run:failed"

/** The function that is called after the last attempt of another one, with its options. */
export const OnFailure = Schema.Struct({
  ns: Schema.String,
  var: Schema.String,
  retry: RetryPolicy,
  timeout_ms: Schema.Int,
  durable: Schema.Boolean
})
export type OnFailure = typeof OnFailure.Type

const referenceLengthMax = 513

/** Reads the name of a function of the build. */
export const readOnFailure = (value: unknown): Read<string> => readText("onFailure", value, referenceLengthMax)

/** Options that would leave out failures. */
const dropping = ["idempotency", "dedupe", "rateLimit", "debounce", "singleton"]

/** Checks that a function that handles failures gets all of them. */
export const checkFailureEvents = (
  events: ReadonlyArray<string>,
  fields: Readonly<Record<string, unknown>>
): Read<void> => {
  const key = events.includes(failureEventType) ? dropping.find((name) => fields[name] !== undefined) : undefined
  return key === undefined
    ? Result.succeed(undefined)
    : fault(key, `must not be set for a function that handles ${failureEventType}: it would leave out failures`)
}

/** A function with the name of the one that `onFailure` names. */
export interface FailureReference extends FunctionRef {
  readonly onFailure: string
}

/** A function of the build with its options. */
interface Candidate extends OnFailure {
  readonly concurrency: unknown
  readonly idempotency: unknown
  readonly flow?: unknown
}

/** A reference that names no function which can be called after a failure. */
interface WrongReference {
  readonly fn: FunctionRef
  readonly reason: string
}

/** Returns the functions that `onFailure` names, by the name of the function that names them. */
export const resolveFailures = (
  references: ReadonlyArray<FailureReference>,
  functions: ReadonlyArray<Candidate>
): Result.Result<ReadonlyMap<string, OnFailure>, WrongReference> => {
  const found = new Map<string, OnFailure>()
  if (references.length === 0) return Result.succeed(found)
  const byName = new Map(functions.map((fn) => [nameOf(fn), fn]))
  for (const reference of references) {
    const name = nameOf(reference)
    const named = findNamed(name, reference.onFailure, byName.get(reference.onFailure))
    if (typeof named === "string") return Result.fail({ fn: reference, reason: named })
    const { ns, var: variable, retry, timeout_ms, durable } = named
    found.set(name, { ns, var: variable, retry, timeout_ms, durable })
  }
  return Result.succeed(found)
}

/** Returns the named function, or the reason why it cannot be called after a failure. */
const findNamed = (name: string, reference: string, named: Candidate | undefined): Candidate | string => {
  const got = JSON.stringify(reference)
  if (named === undefined) return `must be a function of the build (got ${got})`
  if (reference === name) return `must be another function (got ${got})`
  const isCalledOnce = named.concurrency === null && named.idempotency === null && named.flow === undefined
  return isCalledOnce
    ? named
    : `must be a function without concurrency, idempotency and flow control, because each failure calls it once (got ${got})`
}

export const nameOf = ({ ns, var: variable }: FunctionRef): string => `${ns}/${variable}`
