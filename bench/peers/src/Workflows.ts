/** Parts of programs of workflows whose user code runs in their own process. */

/** Counts suspended workflows, and records when they continue. */
export class Continued {
  readonly #times = new Map<number, number>()
  readonly #waiting = new Map<number, (at: number) => void>()
  readonly #suspended = new Set<number>()

  /** Number of workflows that sleep or wait now. */
  get suspended(): number {
    return this.#suspended.size
  }

  /** Records that a workflow sleeps or waits. A replay of it counts as the same. */
  suspend(n: number): void {
    this.#suspended.add(n)
  }

  /** Records that a workflow continues; the first line of user code after its wait. */
  record(n: number): void {
    const at = Date.now()
    this.#suspended.delete(n)
    const waiting = this.#waiting.get(n)
    if (waiting === undefined) {
      this.#times.set(n, at)
    } else {
      this.#waiting.delete(n)
      waiting(at)
    }
  }

  /** Waits until a workflow continues and returns that time, in epoch milliseconds. */
  of(n: number): Promise<number> {
    const at = this.#times.get(n)
    this.#times.delete(n)
    return at === undefined ? new Promise((resolve) => this.#waiting.set(n, resolve)) : Promise.resolve(at)
  }
}

/** Calls a function for `count` numbers from `first` on, with a limited number of calls at a time. */
export const forEachConcurrently = async (
  first: number,
  count: number,
  concurrency: number,
  call: (n: number) => Promise<void>
): Promise<void> => {
  let next = first
  const worker = async (): Promise<void> => {
    while (next < first + count) await call(next++)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}
