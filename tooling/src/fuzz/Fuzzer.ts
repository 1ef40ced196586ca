/** The fuzzing loop: generates and mutates inputs from a seed, collects inputs that reach new code, minimizes failures. */

import { type Draws, draws } from "../draws/Draws.ts"
import type { Coverage } from "./Coverage.ts"
import { mutated } from "./Mutations.ts"
import { smallest } from "./Smallest.ts"
import type { Target, Verdict } from "./Target.ts"

export interface FuzzOptions {
  readonly seed: number
  /** True if the loop continues after this number of inputs. */
  readonly shouldContinue: (inputs: number) => boolean
  readonly corpus: ReadonlyArray<Uint8Array>
  /** Null for a run without guidance, in which the seed determines all inputs. */
  readonly coverage: Coverage | null
  readonly onNew: (input: Uint8Array) => void
}

export interface Failure {
  readonly input: Uint8Array
  readonly what: string
}

export interface Fuzzed {
  readonly inputs: number
  readonly taken: number
  /** Number of inputs that reached new code. */
  readonly fresh: number
  readonly slowestMs: number
  readonly failures: ReadonlyArray<Failure>
}

/** Number of inputs per coverage report. A report costs as much as many inputs. */
const batchSize = 100
const freshShare = 0.3
const failuresMax = 5
const bytesMaxOfAny = 64 * 1024
const limitMsOfAny = 2000
const timedOut = "timed out after"

export const fuzz = async (target: Target, options: FuzzOptions): Promise<Fuzzed> => {
  const { seed, shouldContinue, corpus, coverage, onNew } = options
  const made = draws(seed)
  const pool = [...corpus]
  const failures = new Map<string, Failure>()
  const state = { inputs: 0, taken: 0, fresh: 0, slowestMs: 0 }
  const words = (target.words ?? []).map((word) => (typeof word === "string" ? Buffer.from(word) : word))

  const attempt = async (input: Uint8Array): Promise<void> => {
    const began = performance.now()
    try {
      state.inputs++
      if ((await tried(target, input)) === "taken") state.taken++
    } catch (error) {
      const what = kindOf(error)
      if (failures.has(what)) return
      // On a busy machine a single timeout proves nothing.
      if (what.startsWith(timedOut) && (await failureOf(target, input)) === null) return
      failures.set(what, { input, what })
      const small = await smallest(input, async (shorter) => (await failureOf(target, shorter)) === what)
      failures.set(what, { input: small, what: detailOf(error) })
    }
    state.slowestMs = Math.max(state.slowestMs, performance.now() - began)
  }

  /** Finds the inputs of a batch that reached new code, by bisection. */
  const search = async (guide: Coverage, batch: ReadonlyArray<Uint8Array>): Promise<void> => {
    for (const input of batch) await failureOf(target, input)
    if (!guide.isNew()) return
    const [only] = batch
    if (batch.length === 1 && only !== undefined) {
      guide.remember()
      state.fresh++
      pool.push(only)
      onNew(only)
      return
    }
    const middle = batch.length >> 1
    await search(guide, batch.slice(0, middle))
    await search(guide, batch.slice(middle))
  }

  while (shouldContinue(state.inputs) && failures.size < failuresMax) {
    const batch: Array<Uint8Array> = []
    while (batch.length < batchSize && shouldContinue(state.inputs)) {
      const input = nextInput(target, made, pool, words)
      batch.push(input)
      await attempt(input)
    }
    if (coverage === null || !coverage.isNew()) continue
    if (state.inputs > batchSize) await search(coverage, batch)
    // The first batch also runs initialization code, which a second run of its inputs does not reach again.
    else coverage.remember()
  }
  return { ...state, failures: [...failures.values()] }
}

const nextInput = (
  target: Target,
  made: Draws,
  pool: ReadonlyArray<Uint8Array>,
  words: ReadonlyArray<Uint8Array>
): Uint8Array => {
  const bytesMax = target.bytesMax ?? bytesMaxOfAny
  if (made.chance(freshShare)) return target.generate(made)
  // Half of the mutated inputs come from the corpus or reached new code.
  const base = pool.length === 0 || made.chance(0.5) ? target.generate(made) : made.one(pool)
  const own = made.chance(0.5) ? (target.mutate?.(base, made) ?? null) : null
  return (own ?? mutated(base, made, { words, inputs: pool })).subarray(0, bytesMax)
}

/** Runs an input and returns its verdict. A timeout is also a failure. */
export const tried = async (target: Target, input: Uint8Array): Promise<Verdict> => {
  const limitMs = target.limitMs ?? limitMsOfAny
  const began = performance.now()
  let timer: NodeJS.Timeout | undefined
  const verdict = target.run(input)
  if (typeof verdict === "string") return inTime(verdict, began, limitMs)
  try {
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${timedOut} ${limitMs} ms`)), limitMs)
    })
    return await Promise.race([verdict, tooLate])
  } finally {
    clearTimeout(timer)
  }
}

const inTime = (verdict: Verdict, began: number, limitMs: number): Verdict => {
  if (performance.now() - began > limitMs) throw new Error(`${timedOut} ${limitMs} ms`)
  return verdict
}

/** Returns the kind of failure of an input, or null. */
const failureOf = async (target: Target, input: Uint8Array): Promise<string | null> => {
  try {
    await tried(target, input)
    return null
  } catch (error) {
    return kindOf(error)
  }
}

/** Reduces a failure to its kind: messages that differ only in numbers and quotations are equal. */
const kindOf = (error: unknown): string =>
  detailOf(error)
    .replace(/"(?:[^"\\]|\\.)*"|'[^']*'|\d+/g, "_")
    .slice(0, 80)

const detailOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 1000)
