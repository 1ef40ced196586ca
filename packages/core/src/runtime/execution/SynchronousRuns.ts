/** Runs of webhooks and tools: without an event, and a client waits for the result. */
import { Cause, Clock, Context, Effect, Exit, Layer } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { freshIdsNow, RunId, StreamId } from "../../foundation/Ids.ts"
import type { JsonText } from "../../foundation/JsonText.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Execution, Outcome } from "../../platform/sandbox/Outcome.ts"
import type { RequestBody } from "../../platform/sandbox/RequestBody.ts"
import type { FunctionRef, Invocation } from "../../platform/sandbox/Sandbox.ts"
import type { Endpoint } from "../../resources/builds/Manifest.ts"
import type { Identity } from "../../tenants/access/Caller.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { endRun, loseRun, type RunBuild, startCall, toStatus } from "../runs/Attempt.ts"
import type { LogEntry } from "../runs/Run.ts"
import type { ModelClient } from "../svc/ModelClient.ts"
import { type CallbackTask, fromCallbackTask } from "./CallbackTask.ts"
import { type ExecuteError, Executor } from "./Executor.ts"
import { type Recording, type RunEnd, RunRecorder } from "./RunRecorder.ts"
import type { SourceRun } from "./SourceRun.ts"

export interface SynchronousWork {
  readonly build: RunBuild
  readonly fn: FunctionRef & Pick<Endpoint, "timeout_ms" | "record" | "recording">
  readonly trigger: Invocation["trigger"]
  /** JSON text of `svc` without `run`. */
  readonly facts: string
  /** Body of the request; null without one. */
  readonly body: RequestBody | null
  /** Credential of the caller, if the endpoint requires one. */
  readonly caller: Identity | null
  /** The MCP client that waits for the run, if one does. */
  readonly client?: ModelClient
  /** First entry of the run's log: the request. */
  readonly request: { readonly message: string; readonly data: JsonText }
  /** Of source text; without it the run is of the build. */
  readonly source?: SourceRun
}

export interface SynchronousResult {
  readonly runId: RunId
  readonly outcome: Outcome
  /** Returns the run at its end, with its log. */
  readonly ended: () => RunEnd
}

export class SynchronousRuns extends Context.Service<
  SynchronousRuns,
  {
    /**
     * Runs the function to its end, whatever its outcome, and records the run as the function declares. Interruption cancels
     * the run.
     */
    readonly run: (work: SynchronousWork) => Effect.Effect<SynchronousResult, ExecuteError>
    /** As `run`, for code without a fiber. */
    readonly start: (work: SynchronousWork) => CallbackTask<SynchronousResult, ExecuteError>
  }
>()("@weft/core/runtime/execution/SynchronousRuns") {
  static readonly layer = Layer.effect(
    SynchronousRuns,
    Effect.gen(function* () {
      const executor = yield* Executor
      const recorder = yield* RunRecorder
      const { nodeId } = yield* NodeLease
      const fresh = yield* freshIdsNow
      const clock = yield* Clock.Clock
      const now = () => Timestamp.make(clock.currentTimeMillisUnsafe(), { disableChecks: true })

      /** Ends a run whose execution failed, and fails with the cause. */
      const lose = Effect.fnUntraced(function* (recording: Recording, cause: Cause.Cause<ExecuteError>) {
        const { run } = recording
        const lost = Cause.hasInterruptsOnly(cause)
          ? endRun(run, cancelledExecution, now())
          : loseRun(run, "SandboxUnavailable", "The sandbox could not run the function", now())
        const logs = yield* executor.logged(run)
        yield* Effect.callback<void, StoreUnavailable>((resume) =>
          recorder.end(recording, lost.status, () => ({ run: lost, logs }), resume)
        )
        return yield* Effect.failCause(cause)
      })

      const start: SynchronousRuns["Service"]["start"] = (work) => (context, done) => {
        const { body, caller, client, facts, fn, request, source, trigger } = work
        const run = startCall(work, nodeId, fresh(RunId), fresh(StreamId), now())
        const preface: ReadonlyArray<LogEntry> = [{ seq: 0, time: run.start_time, level: "info", ...request }]
        const recording = recorder.begin(run, fn.record)
        return executor.start({
          run,
          depth: 0,
          facts,
          body,
          caller,
          trigger,
          timeoutMs: fn.timeout_ms,
          queueTimeoutMs: 0,
          preface,
          durable: null,
          recording: fn.recording,
          ...(client === undefined ? {} : { client }),
          ...(source === undefined ? {} : { source })
        })(context, (exit) => {
          if (Exit.isFailure(exit)) {
            Effect.runForkWith(context)(lose(recording, exit.cause)).addObserver(done)
            return
          }
          const { execution: executed, logs } = exit.value
          const toOutcome = source?.toOutcome
          const execution = toOutcome === undefined ? executed : { ...executed, outcome: toOutcome(executed.outcome) }
          const { outcome } = execution
          const stoppedAt = now()
          const ended = () => ({ run: endRun(run, execution, stoppedAt), logs })
          recorder.end(recording, toStatus(outcome), ended, (recorded) =>
            done(
              Exit.isFailure(recorded)
                ? Exit.failCause(recorded.cause)
                : Exit.succeed({ runId: run.run_id, outcome, ended })
            )
          )
        })
      }

      return SynchronousRuns.of({ start, run: (work) => fromCallbackTask(start(work)) })
    })
  ).pipe(Layer.provide(RunRecorder.layer))
}

const cancelledExecution: Execution = {
  outcome: { _tag: "Cancelled" },
  usage: { cpu_ms: 0, wall_ms: 0, heap_bytes: 0 }
}
