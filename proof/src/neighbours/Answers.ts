/** Counts of the answers that an attacker saw. */
import type { Ending } from "./Shape.ts"

const statusLine = /HTTP\/1\.1 (\d{3})/g

/** Characters that may hold the beginning of the next status line. */
const tailLength = 11

export class Answers {
  readonly #counts = new Map<string, number>()

  add(answer: number | Ending, count = 1): void {
    const name = String(answer)
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count)
  }

  /** Counts the status lines in received text. Returns its end, to which the next text is appended. */
  addStatuses(text: string): string {
    let end = 0
    for (const match of text.matchAll(statusLine)) {
      end = match.index + match[0].length
      this.add(Number(match[1]))
    }
    return text.slice(Math.max(end, text.length - tailLength))
  }

  clear(): void {
    this.#counts.clear()
  }

  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].sort())
  }
}
