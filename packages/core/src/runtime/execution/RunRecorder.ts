/**
 * Records the runs that a client waits for: before the response, after it, only failed ones, or none. The function declares
 * the mode, and the plan may demand a stronger one.
 *
 * Runs that may stay unrecorded are never stored as running, so nothing has to end them after a crash.
 */
import { Context, Effect, Exit, Layer } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { OrgId } from "../../foundation/Ids.ts"
import { Plans } from "../../tenants/orgs/Plans.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import { type RecordMode, strongerRecord } from "../../tenants/orgs/RecordMode.ts"
import { DeferredRecords } from "../journal/DeferredRecords.ts"
import { type EntryActivity, Journal, noActivity } from "../journal/Journal.ts"
import { LocalRuns } from "../journal/LocalRuns.ts"
import { RunCounter } from "../journal/RunCounter.ts"
import { SeriesRecorder } from "../journal/SeriesRecorder.ts"
import { startActivity } from "../runs/Activity.ts"
import type { LogEntry, Run, RunStatus } from "../runs/Run.ts"

/** The record of a run in progress. */
export interface Recording {
  /** The run at its start. */
  readonly run: Run
  readonly mode: RecordMode
  /** Null if the mode is `before`. */
  readonly orgId: OrgId | null
}

/** The end of a run, with its log. */
export interface RunEnd {
  readonly run: Run
  readonly logs: ReadonlyArray<LogEntry>
}

type Recorded = (exit: Exit.Exit<void, StoreUnavailable>) => void

export class RunRecorder extends Context.Service<
  RunRecorder,
  {
    /** Begins a run with the declared mode, or a stronger one if the plan demands it. */
    readonly begin: (run: Run, declared: RecordMode) => Recording
    /**
     * Ends a run. `done` is called when the response may be sent. `build` returns the end, and is called only if it is
     * stored.
     */
    readonly end: (recording: Recording, status: RunStatus, build: () => RunEnd, done: Recorded) => void
  }
>()("@weft/core/runtime/execution/RunRecorder") {
  static readonly layer = Layer.effect(
    RunRecorder,
    Effect.gen(function* () {
      const journal = yield* Journal
      const localRuns = yield* LocalRuns
      const plans = yield* Plans
      const { uncounted } = yield* Quotas
      const deferred = yield* DeferredRecords
      const counter = yield* RunCounter
      const series = yield* SeriesRecorder

      /** Stores the end before the response. */
      const store = ({ run, logs }: RunEnd, activity: EntryActivity, done: Recorded): void =>
        journal.append(
          { _tag: "Ended", run, logs },
          (written) => {
            // If the end could not be stored, a later comparison with the store ends the run.
            localRuns.end([run.run_id])
            done(Exit.asVoid(written))
          },
          activity
        )

      /** Stores the end after the response, unless too many wait for that. */
      const storeLater = (end: RunEnd, isStarted: boolean, orgId: OrgId, done: Recorded): void => {
        const { run, logs } = end
        const activity = isStarted ? noActivity : () => startActivity(run)
        const onStored = () => {
          localRuns.end([run.run_id])
          uncounted.subtract(orgId, 1)
        }
        if (deferred.defer({ _tag: "Ended", run, logs }, activity, onStored)) done(Exit.void)
        else {
          store(end, activity, (written) => {
            uncounted.subtract(orgId, 1)
            done(written)
          })
        }
      }

      return RunRecorder.of({
        begin: (run, declared) => {
          // Admission has just read the plan. Without it, the strongest mode is safe.
          const subscription = declared === "before" ? undefined : plans.getCached(run.env_id)
          const mode =
            subscription === undefined ? "before" : strongerRecord(declared, subscription.plan.weakest_record)
          const orgId = mode === "before" ? null : (subscription?.org.org_id ?? null)
          if (isVisible(mode)) {
            localRuns.begin([run.run_id])
            journal.started(run)
          } else if (orgId !== null) {
            uncounted.add(orgId, 1)
          }
          return { run, mode, orgId }
        },

        end: ({ run, mode, orgId }, status, build, done) => {
          if (orgId === null) {
            store(build(), noActivity, done)
          } else if (mode === "after") {
            // While the run was active, its row counted.
            uncounted.add(orgId, 1)
            storeLater(build(), !journal.preventStart(run.run_id), orgId, done)
          } else if (mode === "failures" && status === "failed") {
            storeLater(build(), false, orgId, done)
          } else {
            journal.countEnded({ run_type: run.run_type, status })
            counter.count(run, status, orgId)
            series.countEnd(run, status)
            done(Exit.void)
          }
        }
      })
    })
  ).pipe(Layer.provide(Layer.merge(DeferredRecords.layer, RunCounter.layer)))
}

/** True if a long run is stored while it is running. */
const isVisible = (mode: RecordMode): boolean => mode === "before" || mode === "after"
