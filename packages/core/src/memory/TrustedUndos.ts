/** The functions that undo completed steps of a trusted durable function, and its fan-out. The same rules as in an isolate. */

interface Undo {
  readonly name: string
  /** Runs the undo function as a step. */
  readonly run: () => Promise<unknown>
}

export class TrustedUndos {
  readonly #undos: Array<Undo> = []
  #isUnwinding = false

  get isNeeded(): boolean {
    return this.#undos.length > 0
  }

  get isUnwinding(): boolean {
    return this.#isUnwinding
  }

  add(undo: Undo): void {
    this.#undos.push(undo)
  }

  /** Runs all of them, the latest first. Returns the error of the run, which names those that failed. */
  async unwind(error: unknown, onFailure: (text: string) => void): Promise<unknown> {
    this.#isUnwinding = true
    const failures: Array<string> = []
    for (let undo = this.#undos.pop(); undo !== undefined; undo = this.#undos.pop()) {
      try {
        await undo.run()
      } catch (failure) {
        const text = `The undo of the step "${undo.name}" failed with ${String(failure)}`
        onFailure(text)
        failures.push(text)
      }
    }
    if (failures.length === 0) return error
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error))
    return Object.assign(new Error([message, ...failures].join(". ")), { name, stack })
  }
}

/** Calls `fn` for each item, at most `concurrency` at the same time. */
export const fanOut = async <A, B>(
  items: ReadonlyArray<A>,
  fn: (item: A, index: number) => B | Promise<B>,
  concurrency: number
): Promise<ReadonlyArray<B>> => {
  const results: Array<B> = []
  const failures: Array<unknown> = []
  // All workers share the iterator.
  const entries = items.entries()
  const work = async (): Promise<void> => {
    for (const [index, item] of entries) {
      if (failures.length > 0) return
      try {
        results[index] = await fn(item, index)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work))
  if (failures.length > 0) throw failures[0]
  return results
}
