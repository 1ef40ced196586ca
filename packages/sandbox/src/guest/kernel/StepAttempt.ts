/** One attempt at a step: calls its body, until its timeout. */
import { parseDuration } from "./duration.ts"
import { describeThrown, namedError } from "./failures.ts"
import {
  apply,
  getProperty,
  NativePromise,
  NativeTypeError,
  parse,
  resolve,
  stringify,
  whenSettled
} from "./primordials.ts"
import { readRetryHint } from "./RetryHint.ts"
import { StepContext } from "./StepContext.ts"

/** Maximum timeout of an attempt, in milliseconds: 1 hour. */
const timeoutMaxMs = 3_600_000

/** Maximum characters of a result, as in the host: a host call could not pass a much longer one. */
const resultLengthMax = 256 * 1024

export interface StepOptions {
  /** JSON text of the retry policy. */
  readonly retry: string | undefined
  readonly timeoutMs: number | undefined
  /** Undoes the step; undefined without such a function. */
  readonly undo: object | undefined
}

/** The end of an attempt: the result or error as JSON text, and further fields of its report. */
export interface Attempt {
  readonly ok: boolean
  readonly text: string
  readonly fields: string
}

export const readStepOptions = (options: unknown, givenUndo: unknown): StepOptions => {
  const read = (name: string): unknown =>
    typeof options === "object" && options !== null ? getProperty(options, name) : undefined
  const timeout = read("timeout")
  const timeoutMs = timeout === undefined ? undefined : parseDuration(timeout)
  if (timeoutMs === null || (timeoutMs !== undefined && (timeoutMs < 1 || timeoutMs > timeoutMaxMs))) {
    throw new NativeTypeError('svc.step: timeout must be a duration such as "30s", at most 1 hour')
  }
  const undo = givenUndo ?? read("compensate")
  if (undo !== undefined && typeof undo !== "function") {
    throw new NativeTypeError("svc.step: the function that undoes a step must be a function")
  }
  return { retry: stringify(read("retry")), timeoutMs, undo }
}

export const attemptStep = async (
  name: string,
  body: object,
  context: StepContext,
  { retry, timeoutMs }: StepOptions
): Promise<Attempt> => {
  let value: unknown
  try {
    value = await withTimeout(name, callBody(body, context), context, timeoutMs)
  } catch (thrown) {
    const { isFinal, afterMs } = readRetryHint(thrown)
    const after = afterMs === undefined ? "" : `,"after":${afterMs}`
    return { ok: false, text: toErrorText(thrown), fields: `${policyField(isFinal ? finalPolicy : retry)}${after}` }
  }
  try {
    const text = toText(name, value)
    if (text.length > resultLengthMax) throw tooLarge(name)
    return { ok: true, text, fields: policyField(retry) }
  } catch (thrown) {
    // Another attempt would return the same.
    return { ok: false, text: toErrorText(thrown), fields: policyField(finalPolicy) }
  }
}

const finalPolicy = '{"attempts":1}'

const policyField = (retry: string | undefined): string => (retry === undefined ? "" : `,"retry":${retry}`)

const callBody = (body: object, context: StepContext): Promise<unknown> =>
  new NativePromise((done) => done(typeof body === "function" ? resolve(apply(body, undefined, [context])) : undefined))

/** Rejects with `StepTimeout` if the body takes too long. Its signal aborts then, and its result is ignored. */
const withTimeout = (
  name: string,
  running: Promise<unknown>,
  context: StepContext,
  ms: number | undefined
): Promise<unknown> => {
  if (ms === undefined) return running
  const setTimeout: (callback: () => void, ms: number) => unknown = getProperty(globalThis, "setTimeout")
  const clearTimeout: (timer: unknown) => void = getProperty(globalThis, "clearTimeout")
  return new NativePromise((done, reject) => {
    const timer = setTimeout(() => {
      const error = namedError("StepTimeout", `the step ${stringify(name)} took longer than its timeout of ${ms} ms`)
      reject(error)
      StepContext.abort(context, error)
    }, ms)
    whenSettled(
      running,
      (value) => {
        clearTimeout(timer)
        done(value)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      }
    )
  })
}

/** Returns the result of a step as JSON text; empty for `undefined`. */
const toText = (name: string, value: unknown): string => {
  if (value === undefined) return ""
  let text: string | undefined
  try {
    text = stringify(value)
  } catch (thrown) {
    throw namedError(
      "NotSerializable",
      `the result of the step ${stringify(name)} is not JSON: ${parse(describeThrown(thrown))[1]}`
    )
  }
  if (text === undefined) {
    throw namedError(
      "NotSerializable",
      `the result of the step ${stringify(name)} is a ${typeof value}, which is not JSON`
    )
  }
  return text
}

const tooLarge = (name: string): Error =>
  namedError(
    "ResultTooLarge",
    `the result of the step ${stringify(name)} has over ${resultLengthMax} characters of JSON: store it in svc.files and return its path`
  )

const toErrorText = (thrown: unknown): string => {
  const parts: ReadonlyArray<unknown> = parse(describeThrown(thrown))
  return `{"name":${stringify(parts[0])},"message":${stringify(parts[1])},"stack":${stringify(parts[2])}}`
}
