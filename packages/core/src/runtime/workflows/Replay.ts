/** Texts by which a durable function receives its results: recorded ones at its start, and new ones as answers. Pure. */
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Run } from "../runs/Run.ts"
import type { History, StepRecord } from "../runs/Workflow.ts"

/** A result for the guest. */
export type Result = Pick<StepRecord, "seq" | "ok" | "result" | "ended_at">

/** Returns the JSON text of `[seq, ok, time]` or `[seq, ok, time, value]`; without a value for `undefined`. */
export const formatResult = ({ seq, ok, ended_at, result }: Result): string =>
  `[${seq},${ok},${ended_at}${result === null ? "" : `,${result}`}]`

/** Returns the answer to a failed attempt at a step that is to be repeated now. */
export const formatRetry = (seq: number, at: Timestamp): string => `[${seq},null,${at}]`

/** Returns the fact `durable` of an invocation, as JSON text. */
export const formatDurableFact = (run: Run, { steps, waits }: History, isCancelled: boolean): string => {
  const recorded = steps.map(({ seq, kind, name }) => [seq, kind, name])
  const requested = waits.filter(({ seq }) => seq >= 0).map(({ seq, attempts }) => [seq, attempts])
  const copied = countCopies(run, steps)
  return JSON.stringify({ recorded, copied, waits: requested, time: run.start_time, cancelled: isCancelled })
}

/** Returns how many of the results are copies from the run that this one replays from a step. They are older than the run. */
const countCopies = ({ origin_run_id, start_time }: Run, steps: ReadonlyArray<StepRecord>): number =>
  origin_run_id === null ? 0 : steps.filter(({ ended_at }) => ended_at < start_time).length
