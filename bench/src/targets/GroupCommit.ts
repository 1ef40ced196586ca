/** Commits all pending jobs together. Jobs that start in one commit end in the next. */
type Commit = (begun: ReadonlyArray<number>, ended: ReadonlyArray<number>) => Promise<void> | void

interface PendingStart {
  readonly n: number
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

export class GroupCommit {
  readonly #commit: Commit
  #pending: Array<PendingStart> = []
  #running: ReadonlyArray<number> = []
  #isCommitting = false
  #ended = 0

  constructor(commit: Commit) {
    this.#commit = commit
  }

  /** Number of ended jobs. */
  get ended(): number {
    return this.#ended
  }

  /** Starts a job; resolves when the start is committed. */
  begin(n: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ n, resolve, reject })
      if (!this.#isCommitting) void this.#go()
    })
  }

  async #go(): Promise<void> {
    this.#isCommitting = true
    while (this.#pending.length > 0 || this.#running.length > 0) {
      // One turn of the event loop, in which callers that the last commit resolved start their next jobs.
      await new Promise((resolve) => setImmediate(resolve))
      const begun = this.#pending
      const ended = this.#running
      const numbers = begun.map(({ n }) => n)
      this.#pending = []
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
