/**
 * The interface of contenders of the job suites.
 *
 * Each contender is a separate Node program that `ProgramProcess` starts. It passes primitives to `serve`, which measures
 * them in that process. All contenders are measured by the same code (`Driver`).
 */

export interface JobProgram {
  /** Versions, durability, concurrency and tuning, in a few words each. */
  readonly settings: Readonly<Record<string, string>>
  /** Publishes `makeJob(n)`; resolves when it is durable. No number is published twice. */
  readonly publish: (n: number) => Promise<void>
  /** Publishes `count` jobs from `first` on, by the fastest documented API; resolves when all are durable. */
  readonly publishMany: (first: number, count: number) => Promise<void>
  /** Returns the number of jobs with a stored result. Called every 20 ms, so it must be cheap. */
  readonly finished: () => Promise<number>
  /** Reads the stored result of a finished job. Missing if the program is measured without results. */
  readonly result?: (n: number) => Promise<unknown>
  /** Waits until user code of the job starts, and returns that time on the clock of `wallNow`. Only for `latency`. */
  readonly startedAt: (n: number) => Promise<number>
  /** Runs a flow of three durable steps in sequence; resolves when the last result is stored. */
  readonly flow?: (n: number) => Promise<void>
  /** Stops everything that the program started. */
  readonly close: () => Promise<void>
}

export interface ProgramOptions {
  /** URL of the service that the program uses, with a separate database. */
  readonly url?: string
  /** Variant of the program, which the program defines. */
  readonly variant?: string
}

export type Job = {
  readonly n: number
  readonly payload: string
}

const payload = "x".repeat(900)

/** Returns a job of about 1 KB as JSON. */
export const makeJob = (n: number): Job => ({ n, payload })

/** Returns the result that user code of the job returns. */
export const toResult = (n: number): { readonly done: number } => ({ done: n })
