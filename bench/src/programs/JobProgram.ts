/**
 * What a contender of the suites about jobs has to be able to do.
 *
 * Each is a Node program of its own that `ProgramProcess` starts. It gives primitives to `serve`, which measures them
 * in that process: all contenders by the same code (`Driver`).
 */

export interface JobProgram {
  /** What a reader needs to judge: versions, durability, concurrency, what was tuned, in a few words each. */
  readonly settings: Readonly<Record<string, string>>
  /** Publishes `jobOf(n)`; resolves when it is durable. No number is published twice. */
  readonly publish: (n: number) => Promise<void>
  /** As `publish`, from `first` on, by the fastest form that the documentation knows; resolves when all are durable. */
  readonly publishMany: (first: number, count: number) => Promise<void>
  /** How many jobs have their result stored, since the program began. Asked every 20 ms, so it must cost little. */
  readonly finished: () => Promise<number>
  /** The result of a finished job, read from where it is stored. Left out by those that are measured without results. */
  readonly result?: (n: number) => Promise<unknown>
  /** When user code of the job began, as `wallNow` has it; waits for it. Only asked where `latency` is measured. */
  readonly startedAt: (n: number) => Promise<number>
  /** One flow of three durable steps, each begun when the one before is stored; resolves when the last result is. */
  readonly flow?: (n: number) => Promise<void>
  /** Ends everything that the program began. */
  readonly close: () => Promise<void>
}

export interface ProgramOptions {
  /** Of the service that the program uses, with a database of its own. */
  readonly url?: string
  /** Which of several forms of the program; for it to define. */
  readonly variant?: string
}

export type Job = {
  readonly n: number
  readonly payload: string
}

const payload = "x".repeat(900)

/** About 1 KB as JSON. */
export const jobOf = (n: number): Job => ({ n, payload })

/** What user code of the job returns. */
export const resultOf = (n: number): { readonly done: number } => ({ done: n })
