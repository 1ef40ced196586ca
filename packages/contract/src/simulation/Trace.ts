/** What happened, one line each: as a hash that tells histories apart, and as text where somebody is to read it. */
import { hashOf } from "./Draws.ts"

export class Trace {
  readonly #elapsed: () => number
  readonly #lines: Array<string> | null
  #high = 0
  #low = 0
  #count = 0

  constructor(elapsed: () => number, isKept: boolean) {
    this.#elapsed = elapsed
    this.#lines = isKept ? [] : null
  }

  add(line: string): void {
    const text = `${this.#elapsed().toFixed(2)} ${line}`
    this.#high = hashOf(text, this.#high)
    this.#low = hashOf(text, ~this.#low)
    this.#count++
    this.#lines?.push(text)
  }

  get count(): number {
    return this.#count
  }

  get hash(): string {
    return `${this.#high.toString(16).padStart(8, "0")}${this.#low.toString(16).padStart(8, "0")}`
  }

  /** Milliseconds since the beginning, and what happened; empty where it was not to be kept. */
  get lines(): ReadonlyArray<string> {
    return this.#lines ?? []
  }
}
