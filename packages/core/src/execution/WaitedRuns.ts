/** Runs that somebody waits for, without an event: of webhooks and of tools. */
import { Cause, Clock, Context, Effect, Exit, Layer } from "effect"
import type { Identity } from "../access/Caller.ts"
import type { Build } from "../builds/Build.ts"
import { freshIdsNow, type NodeId, RunId, StreamId } from "../ids/Ids.ts"
import type { JsonText } from "../ids/JsonText.ts"
import { now as currentTime, Timestamp } from "../ids/Timestamp.ts"
import { Journal } from "../journal/Journal.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { OwnRuns } from "../journal/OwnRuns.ts"
import { endRun, loseRun } from "../runs/Attempt.ts"
import type { LogEntry, Run } from "../runs/Run.ts"
import type { Execution, Outcome } from "../sandbox/Outcome.ts"
import type { RequestBody } from "../sandbox/RequestBody.ts"
import type { FunctionRef, Invocation } from "../sandbox/Sandbox.ts"
import { type ExecuteError, Executor } from "./Executor.ts"
import { fromStart, type Start } from "./Started.ts"

export interface WaitedWork {
  readonly build: Build
  readonly fn: FunctionRef & { readonly timeout_ms: number }
  readonly trigger: Invocation["trigger"]
  /** JSON text of `svc` without `run`. */
  readonly facts: string
  /** Of a request; null for none. */
  readonly body: RequestBody | null
  /** The credential that asks for it, if it needed one. */
  readonly caller: Identity | null
  /** The first entry of the run's log: what it is for. */
  readonly request: { readonly message: string; readonly data: JsonText }
}

export interface WaitedEnd {
  /** As it is stored. */
  readonly run: Run
  readonly outcome: Outcome
}

export class WaitedRuns extends Context.Service<
  WaitedRuns,
  {
    /** Runs the function to its end, whatever its outcome; its run is stored by then. Interruption cancels the run. */
    readonly run: (work: WaitedWork) => Effect.Effect<WaitedEnd, ExecuteError>
    /** As `run`, for paths on which no fiber runs. */
    readonly start: (work: WaitedWork) => Start<WaitedEnd, ExecuteError>
  }
>()("@weft/core/runs/WaitedRuns") {
  static readonly layer = Layer.effect(
    WaitedRuns,
    Effect.gen(function* () {
      const executor = yield* Executor
      const journal = yield* Journal
      const { nodeId } = yield* NodeLease
      const own = yield* OwnRuns
      const fresh = yield* freshIdsNow
      const clock = yield* Clock.Clock

      /** What becomes of a run that came to no end of its own. */
      const lose = Effect.fnUntraced(function* (run: Run, cause: Cause.Cause<ExecuteError>) {
        const stopped = yield* currentTime
        const lost = Cause.hasInterruptsOnly(cause)
          ? endRun(run, cancelled, stopped)
          : loseRun(run, "SandboxUnavailable", "The sandbox could not run the function", stopped)
        yield* journal.write({ _tag: "Ended", run: lost, logs: yield* executor.logged(run) })
        return yield* Effect.failCause(cause)
      })

      const start: WaitedRuns["Service"]["start"] = (work) => (context, done) => {
        const { body, caller, facts, fn, request, trigger } = work
        const now = clock.currentTimeMillisUnsafe()
        const run = waitedRun(work, nodeId, fresh(RunId), fresh(StreamId), Timestamp.make(now, { disableChecks: true }))
        const preface: ReadonlyArray<LogEntry> = [{ seq: 0, time: run.start_time, level: "info", ...request }]
        // Where its end could not be stored, the store says so later.
        const end = (exit: Exit.Exit<WaitedEnd, ExecuteError>) => {
          own.end([run.run_id])
          done(exit)
        }
        own.begin([run.run_id])
        journal.started(run)
        return executor.start({ run, facts, body, caller, trigger, timeoutMs: fn.timeout_ms, patienceMs: 0, preface })(
          context,
          (exit) => {
            if (Exit.isFailure(exit)) {
              Effect.runForkWith(context)(lose(run, exit.cause)).addObserver(end)
              return
            }
            const { execution, logs } = exit.value
            const stopped = Timestamp.make(clock.currentTimeMillisUnsafe(), { disableChecks: true })
            const ended = endRun(run, execution, stopped)
            journal.append({ _tag: "Ended", run: ended, logs }, (written) =>
              end(
                Exit.isFailure(written)
                  ? Exit.failCause(written.cause)
                  : Exit.succeed({ run: ended, outcome: execution.outcome })
              )
            )
          }
        )
      }

      return WaitedRuns.of({ start, run: (work) => fromStart(start(work)) })
    })
  )
}

const cancelled: Execution = { outcome: { _tag: "Cancelled" }, usage: { cpu_ms: 0, wall_ms: 0, heap_bytes: 0 } }

const waitedRun = (
  { build, fn }: WaitedWork,
  node_id: NodeId,
  run_id: RunId,
  stream_id: StreamId,
  start_time: Timestamp
): Run => ({
  run_id,
  env_id: build.env_id,
  stream_id,
  project_id: build.project_id,
  project_name: build.project_name,
  build_id: build.build_id,
  ns: fn.ns,
  var: fn.var,
  run_type: "call",
  status: "running",
  start_time,
  stop_time: null,
  origin_run_id: null,
  event_id: null,
  attempt: 1,
  result: null,
  node_id,
  cpu_ms: null,
  wall_ms: null,
  heap_bytes: null
})
