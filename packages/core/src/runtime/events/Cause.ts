/** Chains of events: a run publishes an event, which starts a run, which publishes an event. */
import type { RunId } from "../../foundation/Ids.ts"

/** Origin of an event. */
export interface Cause {
  /** Run whose code published the event; null if none did. */
  readonly run_id: RunId | null
  /** Depth of the event in its chain: 0 from outside, otherwise one more than that of the run. */
  readonly depth: number
  /** True if the run waits for the end of the runs that the event starts. */
  readonly awaits?: true
}

/** A run that publishes events. Its depth is that of the event that started it. */
export interface ChainedRun {
  readonly run_id: RunId
  readonly depth: number
  /** True if the run waits for the end of the runs that the event starts. */
  readonly awaits?: true
}

/** Returns the origin of an event that `run` publishes; without a run the event begins a chain. */
export const toCause = (run: ChainedRun | undefined): Cause =>
  run === undefined
    ? { run_id: null, depth: 0 }
    : { run_id: run.run_id, depth: run.depth + 1, ...(run.awaits === true ? { awaits: true } : {}) }
