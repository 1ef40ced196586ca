/** The functions that a host offers, checked once at its start. */
import { Context, Effect, Layer, Schema } from "effect"
import { parseDuration } from "../builds/Duration.ts"
import type { HostFunction, HostFunctions, HostFunctionTerms } from "./HostFunction.ts"
import { inputCheck, type Mismatch, outputCheck } from "./HostSchema.ts"

/** A host function cannot be offered. For the person who wrote it, at start. */
export class HostFunctionInvalid extends Schema.TaggedError<HostFunctionInvalid>()("HostFunctionInvalid", {
  name: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `The host function ${JSON.stringify(this.name)}: ${this.reason}`
  }
}

export interface OfferedFunction {
  readonly allow: HostFunctionTerms["allow"]
  /** Null where nothing is taken or given. */
  readonly read: ((input: unknown) => Effect.Effect<unknown, Mismatch>) | null
  readonly write: ((output: unknown) => Effect.Effect<unknown, Mismatch>) | null
  readonly run: HostFunction["run"]
  readonly timeoutMs: number
  readonly rate: { readonly calls: number; readonly perMs: number } | null
  readonly concurrency: { readonly run: number; readonly env: number }
}

/** By name. A host that offers none need not say so. */
export const HostTable = Context.Reference<ReadonlyMap<string, OfferedFunction>>("@weft/core/hosting/HostTable", {
  defaultValue: () => new Map()
})

export const hostTableLayer = (functions: HostFunctions = {}): Layer.Layer<never, HostFunctionInvalid> =>
  Layer.effect(
    HostTable,
    Effect.map(
      Effect.forEach(Object.entries(functions), ([name, fn]) =>
        Effect.map(offered(name, fn), (each) => [name, each] as const)
      ),
      (entries) => new Map(entries)
    )
  )

export const nameLengthMax = 128

const defaultTimeoutMs = 30_000
const timeoutMaxMs = 3_600_000
const defaultConcurrency = { run: 8, env: 64 }

const offered = Effect.fnUntraced(function* (name: string, { options, run }: HostFunction) {
  const reason = nameProblem(name)
  if (reason !== null) return yield* new HostFunctionInvalid({ name, reason })
  const { allow, input, output, timeout = defaultTimeoutMs, rate } = options
  const timeoutMs = parseDuration(timeout)
  if (timeoutMs === null || timeoutMs < 1 || timeoutMs > timeoutMaxMs) {
    return yield* new HostFunctionInvalid({ name, reason: "timeout must be a duration from 1 ms to 1 hour" })
  }
  const perMs = rate === undefined ? 1 : parseDuration(rate.per)
  if (perMs === null || perMs < 1 || (rate !== undefined && !isCount(rate.calls))) {
    return yield* new HostFunctionInvalid({ name, reason: "rate must have a number of calls, and a duration per" })
  }
  const concurrency = { ...defaultConcurrency, ...options.concurrency }
  if (!isCount(concurrency.run) || !isCount(concurrency.env)) {
    return yield* new HostFunctionInvalid({ name, reason: "concurrency must be integers, at least 1" })
  }
  return {
    allow,
    read: input === undefined ? null : inputCheck(input),
    write: output === undefined ? null : outputCheck(output),
    run,
    timeoutMs,
    rate: rate === undefined ? null : { calls: rate.calls, perMs },
    concurrency
  } satisfies OfferedFunction
})

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 1

const segment = /^[A-Za-z][A-Za-z0-9_]*$/

/** Null for a name that guests can say. What the language itself asks objects for would never reach the host. */
const nameProblem = (name: string): string | null => {
  if (name.length > nameLengthMax) return `a name has at most ${nameLengthMax} characters`
  for (const part of name.split(".")) {
    if (!segment.test(part)) return "a name is made of letters, digits and _, in segments joined by dots"
    if (part === "then" || part === "toJSON" || part in Function.prototype) {
      return `${part} means something else in JavaScript`
    }
  }
  return null
}
