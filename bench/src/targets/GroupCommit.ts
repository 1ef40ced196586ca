/** One commit for all that waits, and the next when it is done; what began with one commit ends with the next. */

type Commit = (begun: ReadonlyArray<number>, ended: ReadonlyArray<number>) => Promise<void> | void

interface Beginning {
  readonly n: number
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

export class GroupCommit {
  readonly #commit: Commit
  #waiting: Array<Beginning> = []
  #running: ReadonlyArray<number> = []
  #isCommitting = false
  #ended = 0

  constructor(commit: Commit) {
    this.#commit = commit
  }

  /** How many have ended. */
  get ended(): number {
    return this.#ended
  }

  /** Resolves when the beginning is committed. */
  begin(n: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ n, resolve, reject })
      if (!this.#isCommitting) void this.#go()
    })
  }

  async #go(): Promise<void> {
    this.#isCommitting = true
    while (this.#waiting.length > 0 || this.#running.length > 0) {
      // The turn of the event loop in which all come that heard of the last commit.
      await new Promise((resolve) => setImmediate(resolve))
      const begun = this.#waiting
      const ended = this.#running
      const numbers = begun.map(({ n }) => n)
      this.#waiting = []
      try {
        await this.#commit(numbers, ended)
      } catch (error) {
        for (const { reject } of begun) reject(error)
        throw error
      }
      this.#ended += ended.length
      this.#running = numbers
      for (const { resolve } of begun) resolve()
    }
    this.#isCommitting = false
  }
}
