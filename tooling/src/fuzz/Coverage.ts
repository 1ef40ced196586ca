/**
 * Block coverage of V8, by which the fuzzer detects that an input reached new code.
 *
 * V8 reports each function that ran since the previous report, and the blocks in it that did not run.
 */
import { Session } from "node:inspector"

/** A range of offsets in a script, without the end. */
type Gap = readonly [from: number, to: number]

interface Reported {
  readonly scriptId: string
  readonly url: string
  readonly functions: ReadonlyArray<{ readonly ranges: ReadonlyArray<Range> }>
}

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

const ownSources = /\/(packages|adapters)\/[^/]+\/src\//

export class Coverage {
  readonly #session = new Session()
  readonly #covers: RegExp | undefined
  /** Ranges that have not run yet, for each function that has run, by script and offsets. */
  readonly #gaps = new Map<string, ReadonlyArray<Gap>>()
  #pending = new Map<string, ReadonlyArray<Gap>>()
  #characters = 0

  constructor(covers: RegExp | undefined) {
    this.#covers = covers
    this.#session.connect()
    this.#session.post("Profiler.enable")
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true })
  }

  /** Number of source characters that have run. */
  get characters(): number {
    return this.#characters
  }

  get functions(): number {
    return this.#gaps.size
  }

  /** True if code ran since the previous call that had not run before. `remember` adds it to the known code. */
  isNew(): boolean {
    this.#pending = new Map()
    for (const { scriptId, url, functions } of this.#take()) {
      if (!ownSources.test(url) && this.#covers?.test(url) !== true) continue
      for (const { ranges } of functions) this.#compare(scriptId, ranges)
    }
    return this.#pending.size > 0
  }

  remember(): void {
    for (const [key, gaps] of this.#pending) {
      const known = this.#gaps.get(key)
      const [, from = 0, to = 0] = key.split(" ").map(Number)
      this.#characters += (known === undefined ? to - from : lengthOf(known)) - lengthOf(gaps)
      this.#gaps.set(key, gaps)
    }
    this.#pending = new Map()
  }

  close(): void {
    this.#session.post("Profiler.stopPreciseCoverage")
    this.#session.disconnect()
  }

  #compare(scriptId: string, ranges: ReadonlyArray<Range>): void {
    const [whole] = ranges
    if (whole === undefined || whole.count === 0) return
    const key = `${scriptId} ${whole.startOffset} ${whole.endOffset}`
    const gaps = gapsIn(ranges)
    const known = this.#gaps.get(key)
    const left = known === undefined ? gaps : shared(known, gaps)
    if (known === undefined || lengthOf(left) < lengthOf(known)) this.#pending.set(key, left)
  }

  #take(): ReadonlyArray<Reported> {
    let taken: ReadonlyArray<Reported> = []
    // An inspector session of the same process calls back synchronously.
    this.#session.post("Profiler.takePreciseCoverage", (error, answer) => {
      if (error !== null) throw error
      taken = answer.result
    })
    return taken
  }
}

/** Returns the ranges that did not run. V8 reports nested blocks, outer ones first; the innermost block decides. */
const gapsIn = (ranges: ReadonlyArray<Range>): ReadonlyArray<Gap> => {
  let gaps: ReadonlyArray<Gap> = []
  for (const { startOffset, endOffset, count } of ranges) {
    gaps = gaps.flatMap(([from, to]): ReadonlyArray<Gap> => {
      if (to <= startOffset || from >= endOffset) return [[from, to]]
      const before: Gap = [from, startOffset]
      const after: Gap = [endOffset, to]
      return [before, after].filter(([start, end]) => start < end)
    })
    if (count === 0) gaps = [...gaps, [startOffset, endOffset]]
  }
  return [...gaps].sort(([a], [b]) => a - b)
}

const shared = (a: ReadonlyArray<Gap>, b: ReadonlyArray<Gap>): ReadonlyArray<Gap> =>
  a.flatMap(([from, to]) =>
    b.map(([start, end]): Gap => [Math.max(from, start), Math.min(to, end)]).filter(([start, end]) => start < end)
  )

const lengthOf = (gaps: ReadonlyArray<Gap>): number => gaps.reduce((sum, [from, to]) => sum + to - from, 0)
