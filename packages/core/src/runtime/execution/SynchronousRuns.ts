/** Runs of webhooks and tools: without an event, and a client waits for the result. */
import { Cause, Clock, Context, Effect, Exit, Layer } from "effect"
import { freshIdsNow, RunId, StreamId } from "../../foundation/Ids.ts"
import type { JsonText } from "../../foundation/JsonText.ts"
import { now as currentTime, Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Execution, Outcome } from "../../platform/sandbox/Outcome.ts"
import type { RequestBody } from "../../platform/sandbox/RequestBody.ts"
import type { FunctionRef, Invocation } from "../../platform/sandbox/Sandbox.ts"
import type { Build } from "../../resources/builds/Build.ts"
import type { Identity } from "../../tenants/access/Caller.ts"
import { Journal } from "../journal/Journal.ts"
import { LocalRuns } from "../journal/LocalRuns.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { endRun, loseRun, startCall } from "../runs/Attempt.ts"
import type { LogEntry, Run } from "../runs/Run.ts"
import type { ModelClient } from "../svc/ModelClient.ts"
import { type CallbackTask, fromCallbackTask } from "./CallbackTask.ts"
import { type ExecuteError, Executor } from "./Executor.ts"

export interface SynchronousWork {
  readonly build: Build
  readonly fn: FunctionRef & { readonly timeout_ms: number }
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
}

export interface SynchronousResult {
  /** The run as stored. */
  readonly run: Run
  readonly outcome: Outcome
}

export class SynchronousRuns extends Context.Service<
  SynchronousRuns,
  {
    /** Runs the function to its end, whatever its outcome, and stores the run. Interruption cancels the run. */
    readonly run: (work: SynchronousWork) => Effect.Effect<SynchronousResult, ExecuteError>
    /** As `run`, for code without a fiber. */
    readonly start: (work: SynchronousWork) => CallbackTask<SynchronousResult, ExecuteError>
  }
>()("@weft/core/runtime/execution/SynchronousRuns") {
  static readonly layer = Layer.effect(
    SynchronousRuns,
    Effect.gen(function* () {
      const executor = yield* Executor
      const journal = yield* Journal
      const { nodeId } = yield* NodeLease
      const localRuns = yield* LocalRuns
      const fresh = yield* freshIdsNow
      const clock = yield* Clock.Clock

      /** Ends a run whose execution failed, and fails with the cause. */
      const lose = Effect.fnUntraced(function* (run: Run, cause: Cause.Cause<ExecuteError>) {
        const stopped = yield* currentTime
        const lost = Cause.hasInterruptsOnly(cause)
          ? endRun(run, cancelledExecution, stopped)
          : loseRun(run, "SandboxUnavailable", "The sandbox could not run the function", stopped)
        yield* journal.write({ _tag: "Ended", run: lost, logs: yield* executor.logged(run) })
        return yield* Effect.failCause(cause)
      })

      const start: SynchronousRuns["Service"]["start"] = (work) => (context, done) => {
        const { body, caller, client, facts, fn, request, trigger } = work
        const now = clock.currentTimeMillisUnsafe()
        const run = startCall(work, nodeId, fresh(RunId), fresh(StreamId), Timestamp.make(now, { disableChecks: true }))
        const preface: ReadonlyArray<LogEntry> = [{ seq: 0, time: run.start_time, level: "info", ...request }]
        // If its end could not be stored, a later comparison with the store ends the run.
        const end = (exit: Exit.Exit<SynchronousResult, ExecuteError>) => {
          localRuns.end([run.run_id])
          done(exit)
        }
        localRuns.begin([run.run_id])
        journal.started(run)
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
          ...(client === undefined ? {} : { client })
        })(context, (exit) => {
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
        })
      }

      return SynchronousRuns.of({ start, run: (work) => fromCallbackTask(start(work)) })
    })
  )
}

const cancelledExecution: Execution = {
  outcome: { _tag: "Cancelled" },
  usage: { cpu_ms: 0, wall_ms: 0, heap_bytes: 0 }
}
