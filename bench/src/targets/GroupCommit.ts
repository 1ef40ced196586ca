import type { WorkflowProgram } from "../programs/WorkflowProgram.ts"

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

/** Maximum number of steps per workflow. */
const stepsMax = 1_000

/** Returns workflows without user code: a commit per step, or the commits of all steps together. */
export const workflowsOf = (group: GroupCommit): Pick<WorkflowProgram, "sequence" | "fanOut"> => {
  const commit = (n: number, step: number): Promise<void> => group.begin(-stepsMax * n - step - 1)
  return {
    sequence: async (n, steps) => {
      for (let step = 0; step < steps; step++) await commit(n, step)
    },
    fanOut: async (n, steps) => {
      await Promise.all(Array.from({ length: steps }, (_, step) => commit(n, step)))
    }
  }
}
