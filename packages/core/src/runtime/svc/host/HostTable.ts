/** Table of a host's functions, checked once when the host starts. */
import { Context, Effect, Layer, Schema } from "effect"
import { parseDuration } from "../../../foundation/time/Duration.ts"
import type { HostFunction, HostFunctions, HostFunctionTerms } from "./HostFunction.ts"
import { type Mismatch, makeInputCheck, makeOutputCheck } from "./HostSchema.ts"

/** A host function has an invalid name or invalid options. Reported to its author when the host starts. */
export class HostFunctionInvalid extends Schema.TaggedError<HostFunctionInvalid>()("HostFunctionInvalid", {
  name: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `The host function ${JSON.stringify(this.name)}: ${this.reason}`
  }
}

export interface RegisteredFunction {
  readonly allow: HostFunctionTerms["allow"]
  /** Checks of input and output; null without input or output. */
  readonly read: ((input: unknown) => Effect.Effect<unknown, Mismatch>) | null
  readonly write: ((output: unknown) => Effect.Effect<unknown, Mismatch>) | null
  readonly run: HostFunction["run"]
  readonly timeoutMs: number
  readonly rate: { readonly calls: number; readonly perMs: number } | null
  readonly concurrency: { readonly run: number; readonly env: number }
}

/** Registered functions by name; empty by default. */
export const HostTable = Context.Reference<ReadonlyMap<string, RegisteredFunction>>(
  "@weft/core/runtime/svc/host/HostTable",
  {
    defaultValue: () => new Map()
  }
)

export const hostTableLayer = (functions: HostFunctions = {}): Layer.Layer<never, HostFunctionInvalid> =>
  Layer.effect(
    HostTable,
    Effect.map(
      Effect.forEach(Object.entries(functions), ([name, fn]) =>
        Effect.map(register(name, fn), (each) => [name, each] as const)
      ),
      (entries) => new Map(entries)
    )
  )

export const nameLengthMax = 128

const defaultTimeoutMs = 30_000
const timeoutMaxMs = 3_600_000
const defaultConcurrency = { run: 8, env: 64 }

const register = Effect.fnUntraced(function* (name: string, { options, run }: HostFunction) {
  const reason = findNameProblem(name)
  if (reason !== null) return yield* new HostFunctionInvalid({ name, reason })
  const { allow, input, output, timeout = defaultTimeoutMs, rate } = options
  const timeoutMs = parseDuration(timeout)
  if (timeoutMs === null || timeoutMs < 1 || timeoutMs > timeoutMaxMs) {
    return yield* new HostFunctionInvalid({ name, reason: "timeout must be a duration from 1 ms to 1 hour" })
  }
  const perMs = rate === undefined ? 1 : parseDuration(rate.per)
  if (perMs === null || perMs < 1 || (rate !== undefined && !isCount(rate.calls))) {
    return yield* new HostFunctionInvalid({
      name,
      reason: "rate must have `calls`, an integer of at least 1, and `per`, a duration of at least 1 ms"
    })
  }
  const concurrency = { ...defaultConcurrency, ...options.concurrency }
  if (!isCount(concurrency.run) || !isCount(concurrency.env)) {
    return yield* new HostFunctionInvalid({
      name,
      reason: "concurrency.run and concurrency.env must be integers of at least 1"
    })
  }
  return {
    allow,
    read: input === undefined ? null : makeInputCheck(input),
    write: output === undefined ? null : makeOutputCheck(output),
    run,
    timeoutMs,
    rate: rate === undefined ? null : { calls: rate.calls, perMs },
    concurrency
  } satisfies RegisteredFunction
})

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 1

const segment = /^[A-Za-z][A-Za-z0-9_]*$/

/** Returns the problem of a name, or null. JavaScript itself reads some properties, which would never reach the host. */
const findNameProblem = (name: string): string | null => {
  if (name.length > nameLengthMax) return `a name has at most ${nameLengthMax} characters`
  for (const part of name.split(".")) {
    if (!segment.test(part)) return "a name is made of letters, digits and _, in segments joined by dots"
    if (part === "then" || part === "toJSON" || part in Function.prototype) {
      return `${part} has another meaning in JavaScript; choose another name`
    }
  }
  return null
}
