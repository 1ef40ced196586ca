/** The trace of a simulation: a hash of all lines, and the lines themselves if they are recorded. */
import { computeHash } from "./Draws.ts"

export class Trace {
  readonly #elapsed: () => number
  readonly #lines: Array<string> | null
  #high = 0
  #low = 0
  #count = 0

  constructor(elapsed: () => number, isRecorded: boolean) {
    this.#elapsed = elapsed
    this.#lines = isRecorded ? [] : null
  }

  add(line: string): void {
    const text = `${this.#elapsed().toFixed(2)} ${line}`
    this.#high = computeHash(text, this.#high)
    this.#low = computeHash(text, ~this.#low)
    this.#count++
    this.#lines?.push(text)
  }

  get count(): number {
    return this.#count
  }

  get hash(): string {
    return `${this.#high.toString(16).padStart(8, "0")}${this.#low.toString(16).padStart(8, "0")}`
  }

  /** Lines of elapsed milliseconds and an action; empty unless the trace is recorded. */
  get lines(): ReadonlyArray<string> {
    return this.#lines ?? []
  }
}
