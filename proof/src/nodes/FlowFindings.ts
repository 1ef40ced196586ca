/** The kinds of violations by durable functions, and the figures about them. */
export const flowFindings = [
  "flows without exactly one run",
  "flows that did not end as planned",
  "flows whose requests differ from their plan",
  "flows that received other results than the recorded ones",
  "requests of flows without exactly one result",
  "results of steps that no execution of their body returned",
  "bodies that ran after their result was recorded",
  "sleeps that ended early",
  "sleeps that ended late",
  "waits that ended before their timeout",
  "waits that ended late after their timeout",
  "waits that lost their event",
  "waits that received another event",
  "tokens that were completed twice",
  "completions that their flow did not receive",
  "child runs that did not run exactly once",
  "results of child runs that their parent did not receive",
  "steps that were not undone once in reverse order",
  "waits and results without their run",
  "checks of durable functions that compared nothing"
] as const
export type FlowFinding = (typeof flowFindings)[number]

export type Found = (what: FlowFinding, sample: string) => void

export interface TimeFigures {
  readonly sleeps: number
  /** 99th percentile and maximum of the time from the end of a sleep to the next body, in milliseconds. */
  readonly lateMsP99: number
  readonly lateMsMax: number
  /** The same without sleeps during a fault. */
  readonly undisturbed: number
  readonly undisturbedLateMsMax: number
  /** Waits that received an event, and those that timed out. */
  readonly events: number
  readonly timeouts: number
}

export interface TokenFigures {
  /** Tokens that were completed. */
  readonly tokens: number
  /** Requests to complete a token that were refused, because it was completed. */
  readonly refused: number
}

export interface FlowFigures extends TimeFigures, TokenFigures {
  /** Flows that ended as planned. */
  readonly flows: number
  /** Of these, the ones that failed and were undone. */
  readonly undone: number
  readonly results: number
  /** Calls of the functions in which a body ran. */
  readonly activations: number
  readonly executions: number
  /** Executions whose result was not recorded. */
  readonly unrecorded: number
  /** Executions after the record, by nodes that had lost their lease. */
  readonly stale: number
}
