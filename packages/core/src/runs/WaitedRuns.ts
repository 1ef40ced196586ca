/** Runs that somebody waits for, without an event: of webhooks and of tools. */
import { Cause, Context, Effect, Exit, Layer } from "effect"
import type { Identity } from "../access/Caller.ts"
import type { Build } from "../builds/Build.ts"
import type { NotFound, StoreUnavailable } from "../errors/Errors.ts"
import { freshIds, type NodeId, RunId, StreamId } from "../ids/Ids.ts"
import type { JsonText } from "../ids/JsonText.ts"
import { now as currentTime, type Timestamp } from "../ids/Timestamp.ts"
import type { Execution, Outcome } from "../sandbox/Outcome.ts"
import type { FunctionRef, Invocation, SandboxUnavailable } from "../sandbox/Sandbox.ts"
import { endRun, loseRun } from "./Attempt.ts"
import { Executor } from "./Executor.ts"
import { Journal } from "./Journal.ts"
import { NodeLease } from "./NodeLease.ts"
import { OwnRuns } from "./OwnRuns.ts"
import type { LogEntry, Run } from "./Run.ts"

export interface WaitedWork {
  readonly build: Build
  readonly fn: FunctionRef & { readonly timeout_ms: number }
  readonly trigger: Invocation["trigger"]
  /** JSON text of `svc` without `run`. */
  readonly facts: string
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
    readonly run: (work: WaitedWork) => Effect.Effect<WaitedEnd, SandboxUnavailable | NotFound | StoreUnavailable>
  }
>()("@weft/core/runs/WaitedRuns") {
  static readonly layer = Layer.effect(
    WaitedRuns,
    Effect.gen(function* () {
      const executor = yield* Executor
      const journal = yield* Journal
      const { nodeId } = yield* NodeLease
      const own = yield* OwnRuns
      const fresh = yield* freshIds

      const execute = Effect.fnUntraced(function* (
        restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>,
        { facts, caller, fn, trigger, request }: WaitedWork,
        run: Run
      ) {
        const preface: ReadonlyArray<LogEntry> = [{ seq: 0, time: run.start_time, level: "info", ...request }]
        const executed = yield* Effect.exit(
          restore(executor.execute({ run, facts, caller, trigger, timeoutMs: fn.timeout_ms, preface }))
        )
        const stopped = yield* currentTime
        if (Exit.isSuccess(executed)) {
          const { execution, logs } = executed.value
          const ended = endRun(run, execution, stopped)
          yield* journal.write({ _tag: "Ended", run: ended, logs })
          return { run: ended, outcome: execution.outcome } satisfies WaitedEnd
        }
        const lost = Cause.hasInterruptsOnly(executed.cause)
          ? endRun(run, cancelled, stopped)
          : loseRun(run, "SandboxUnavailable", "The sandbox could not run the function", stopped)
        yield* journal.write({ _tag: "Ended", run: lost, logs: yield* executor.logged(run) })
        return yield* Effect.failCause(executed.cause)
      })

      return WaitedRuns.of({
        run: Effect.fnUntraced(function* (work) {
          const run = waitedRun(work, nodeId, yield* fresh(RunId), yield* fresh(StreamId), yield* currentTime)
          return yield* Effect.uninterruptibleMask((restore) => {
            own.begin([run.run_id])
            journal.started(run)
            // Where its end could not be stored, the store says so later.
            return Effect.ensuring(
              execute(restore, work, run),
              Effect.sync(() => own.end([run.run_id]))
            )
          })
        })
      })
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
