/** The loop: inputs made and spoiled by a seed, those that reach something new to be spoiled again, failures made small. */

import { type Draws, draws } from "../draws/Draws.ts"
import type { Coverage } from "./Coverage.ts"
import { mutated } from "./Mutations.ts"
import { smallest } from "./Smallest.ts"
import type { Target, Verdict } from "./Target.ts"

export interface FuzzOptions {
  readonly seed: number
  /** Whether to go on after so many inputs. */
  readonly goesOn: (inputs: number) => boolean
  readonly corpus: ReadonlyArray<Uint8Array>
  /** Null: nothing guides, and runs are the same from a seed on. */
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
  /** Inputs that reached something new. */
  readonly fresh: number
  readonly slowestMs: number
  readonly failures: ReadonlyArray<Failure>
}

/** Inputs between two looks at what has run, which cost as much as many inputs. */
const batchSize = 100
const freshShare = 0.3
const failuresMax = 5
const bytesMaxOfAny = 64 * 1024
const limitMsOfAny = 2000
const late = "no end within"

export const fuzz = async (target: Target, options: FuzzOptions): Promise<Fuzzed> => {
  const { seed, goesOn, corpus, coverage, onNew } = options
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
      // A busy machine may be late once.
      if (what.startsWith(late) && (await failureOf(target, input)) === null) return
      failures.set(what, { input, what })
      const small = await smallest(input, async (shorter) => (await failureOf(target, shorter)) === what)
      failures.set(what, { input: small, what: detailOf(error) })
    }
    state.slowestMs = Math.max(state.slowestMs, performance.now() - began)
  }

  /** Finds those of a batch that reached something new, half by half. */
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

  while (goesOn(state.inputs) && failures.size < failuresMax) {
    const batch: Array<Uint8Array> = []
    while (batch.length < batchSize && goesOn(state.inputs)) {
      const input = nextInput(target, made, pool, words)
      batch.push(input)
      await attempt(input)
    }
    if (coverage === null || !coverage.isNew()) continue
    if (state.inputs > batchSize) await search(coverage, batch)
    // What does not come again with the same inputs is not to be looked for each time.
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
  // Half of what is spoiled is what was kept, or reached something new.
  const base = pool.length === 0 || made.chance(0.5) ? target.generate(made) : made.one(pool)
  const own = made.chance(0.5) ? (target.mutate?.(base, made) ?? null) : null
  return (own ?? mutated(base, made, { words, inputs: pool })).subarray(0, bytesMax)
}

/** What became of an input. An end that does not come is a failure too. */
export const tried = async (target: Target, input: Uint8Array): Promise<Verdict> => {
  const limitMs = target.limitMs ?? limitMsOfAny
  const began = performance.now()
  let timer: NodeJS.Timeout | undefined
  const verdict = target.run(input)
  if (typeof verdict === "string") return inTime(verdict, began, limitMs)
  try {
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${late} ${limitMs} ms`)), limitMs)
    })
    return await Promise.race([verdict, tooLate])
  } finally {
    clearTimeout(timer)
  }
}

const inTime = (verdict: Verdict, began: number, limitMs: number): Verdict => {
  if (performance.now() - began > limitMs) throw new Error(`${late} ${limitMs} ms`)
  return verdict
}

/** The kind of its failure; null where all holds. */
const failureOf = async (target: Target, input: Uint8Array): Promise<string | null> => {
  try {
    await tried(target, input)
    return null
  } catch (error) {
    return kindOf(error)
  }
}

/** Two failures are of a kind when they differ in numbers and quotations only. */
const kindOf = (error: unknown): string =>
  detailOf(error)
    .replace(/"(?:[^"\\]|\\.)*"|'[^']*'|\d+/g, "_")
    .slice(0, 80)

const detailOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 1000)
