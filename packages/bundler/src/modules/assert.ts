/** `node:assert` and `node:assert/strict`. */
import { inspect } from "node-inspect-extracted"
import { isDeepEqual, isDeepStrictEqual } from "./deepEqual.ts"
import { refuse } from "./refuse.ts"

interface Details {
  readonly message?: unknown
  readonly actual?: unknown
  readonly expected?: unknown
  readonly operator?: string
}

export class AssertionError extends Error {
  override readonly name = "AssertionError"
  readonly code = "ERR_ASSERTION"
  readonly actual: unknown
  readonly expected: unknown
  readonly operator: string
  readonly generatedMessage: boolean

  constructor({ message, actual, expected, operator = "fail" }: Details) {
    super(message === undefined ? describe(operator, actual, expected) : String(message))
    this.actual = actual
    this.expected = expected
    this.operator = operator
    this.generatedMessage = message === undefined
  }
}

const describe = (operator: string, actual: unknown, expected: unknown): string =>
  operator === "fail" ? "Failed" : `Expected ${inspect(actual)} ${operator} ${inspect(expected)}`

const check = (holds: boolean, details: Details): void => {
  if (holds) return
  if (details.message instanceof Error) throw details.message
  throw new AssertionError(details)
}

type Compare = (actual: unknown, expected: unknown) => boolean
type Assertion = (actual: unknown, expected: unknown, message?: unknown) => void

const compare =
  (operator: string, holds: Compare): Assertion =>
  (actual, expected, message) =>
    check(holds(actual, expected), { message, actual, expected, operator })

const not =
  (holds: Compare): Compare =>
  (actual, expected) =>
    !holds(actual, expected)

// biome-ignore lint/suspicious/noDoubleEquals: the rule of `assert.equal`.
const isLooselyEqual: Compare = (a, b) => a == b || (Number.isNaN(a) && Number.isNaN(b))
const matches: Compare = (text, pattern) => pattern instanceof RegExp && pattern.test(String(text))

export const ok = (value?: unknown, message?: unknown): void =>
  check(Boolean(value), {
    message: message ?? "The expression evaluated to a falsy value",
    actual: value,
    expected: true,
    operator: "=="
  })
export const equal = compare("==", isLooselyEqual)
export const notEqual = compare("!=", not(isLooselyEqual))
export const strictEqual = compare("strictEqual", Object.is)
export const notStrictEqual = compare("notStrictEqual", not(Object.is))
export const deepEqual = compare("deepEqual", isDeepEqual)
export const notDeepEqual = compare("notDeepEqual", not(isDeepEqual))
export const deepStrictEqual = compare("deepStrictEqual", isDeepStrictEqual)
export const notDeepStrictEqual = compare("notDeepStrictEqual", not(isDeepStrictEqual))
export const match = compare("match", matches)
export const doesNotMatch = compare("doesNotMatch", not(matches))

export const fail = (message: unknown = "Failed"): never => {
  if (message instanceof Error) throw message
  throw new AssertionError({ message })
}

export const ifError = (value: unknown): void => {
  if (value !== null && value !== undefined) throw value
}

type Caught = { readonly error: unknown } | undefined

const fits = (error: unknown, expected: unknown): boolean => {
  if (expected === undefined || typeof expected === "string") return true
  if (expected instanceof RegExp) return expected.test(String(error))
  if (typeof expected === "function") {
    if (expected.prototype !== undefined && error instanceof expected) return true
    return !(expected.prototype instanceof Error) && Reflect.apply(expected, undefined, [error]) === true
  }
  if (typeof expected !== "object" || expected === null || typeof error !== "object" || error === null) return false
  return Object.entries(expected).every(([name, value]) => {
    const found: unknown = Reflect.get(error, name)
    return value instanceof RegExp && typeof found === "string" ? value.test(found) : isDeepStrictEqual(found, value)
  })
}

const judge = (caught: Caught, operator: string, expected: unknown, message: unknown): void => {
  const text = typeof expected === "string" ? expected : message
  check(caught !== undefined, { message: text ?? "Missing expected exception", operator })
  if (caught !== undefined && !fits(caught.error, expected)) throw caught.error
}

const attempt = (body: () => unknown): Caught => {
  try {
    body()
    return undefined
  } catch (error) {
    return { error }
  }
}

const attemptAsync = async (body: Promise<unknown> | (() => Promise<unknown>)): Promise<Caught> => {
  try {
    await (typeof body === "function" ? body() : body)
    return undefined
  } catch (error) {
    return { error }
  }
}

export const throws = (body: () => unknown, expected?: unknown, message?: unknown): void =>
  judge(attempt(body), "throws", expected, message)
export const rejects = async (
  body: Promise<unknown> | (() => Promise<unknown>),
  expected?: unknown,
  message?: unknown
): Promise<void> => judge(await attemptAsync(body), "rejects", expected, message)
export const doesNotThrow = (body: () => unknown): void => void body()
export const doesNotReject = async (body: Promise<unknown> | (() => Promise<unknown>)): Promise<void> => {
  await (typeof body === "function" ? body() : body)
}

export const Assert = refuse("assert.Assert")
export const CallTracker = refuse("assert.CallTracker")
export const partialDeepStrictEqual = refuse("assert.partialDeepStrictEqual")

const assertions = {
  AssertionError,
  Assert,
  CallTracker,
  deepEqual,
  deepStrictEqual,
  doesNotMatch,
  doesNotReject,
  doesNotThrow,
  equal,
  fail,
  ifError,
  match,
  notDeepEqual,
  notDeepStrictEqual,
  notEqual,
  notStrictEqual,
  ok,
  partialDeepStrictEqual,
  rejects,
  strictEqual,
  throws
}

export const strict: typeof ok & typeof assertions = Object.assign(
  (value?: unknown, message?: unknown) => ok(value, message),
  {
    ...assertions,
    equal: strictEqual,
    notEqual: notStrictEqual,
    deepEqual: deepStrictEqual,
    notDeepEqual: notDeepStrictEqual
  }
)

const assert = Object.assign((value?: unknown, message?: unknown) => ok(value, message), assertions, { strict })
Object.assign(strict, { strict })

export default assert
