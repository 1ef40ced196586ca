/**
 * The interface of contenders of the suites about durable workflows. Like job programs, each is a separate Node program,
 * and all are measured by the same code (`WorkflowDriver`). The body of a step returns `toResult(n)`.
 */

export interface WorkflowProgram {
  /** Versions, durability, concurrency and tuning, in a few words each. */
  readonly settings: Readonly<Record<string, string>>
  /** Runs workflow `n`, whose steps run one after the other; resolves when its result is stored. */
  readonly sequence: (n: number, steps: number) => Promise<void>
  /** Runs workflow `n`, whose steps run side by side; resolves when its result is stored. */
  readonly fanOut?: (n: number, steps: number) => Promise<void>
  /** The primitives of suspended workflows. */
  readonly waits?: WaitingWorkflows
  /** Stops everything that the program started. */
  readonly close: () => Promise<void>
}

export interface WaitingWorkflows {
  /** True if a suspended workflow leaves memory, so that it replays its steps when it continues. */
  readonly replays: boolean
  /** Starts `count` workflows from `first` on, which sleep until the given times; resolves when all starts are durable. */
  readonly sleep: (first: number, count: number, until: (n: number) => number) => Promise<void>
  /** Starts `count` workflows from `first` on, which store `steps` steps and then wait for their signal. */
  readonly wait: (first: number, count: number, steps: number) => Promise<void>
  /** Returns the number of workflows that sleep or wait now. */
  readonly suspended: () => Promise<number>
  /** Sends the signal of workflow `n`; resolves when it is durable. */
  readonly signal: (n: number) => Promise<void>
  /** Waits until workflow `n` has continued. Returns the time of its first code after the wait, in epoch milliseconds. */
  readonly continued: (n: number) => Promise<number>
  /** Publishes an event that no workflow receives: a signal of nobody, or an event of another type. */
  readonly publish?: (kind: "signal" | "other") => Promise<void>
  /** Cancels all suspended workflows. */
  readonly cancelAll?: () => Promise<void>
}
