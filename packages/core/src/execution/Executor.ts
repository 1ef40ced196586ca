/**
 * Runs one function in the sandbox and collects what it logged: the step that event handlers, webhooks and
 * calls share.
 */
import { Context, Effect, Exit, Layer } from "effect"
import type { Identity } from "../access/Caller.ts"
import { Artifacts } from "../builds/Artifacts.ts"
import type { NotFound, StoreUnavailable } from "../errors/Errors.ts"
import { makeByteCalls } from "../hostcalls/ByteCalls.ts"
import { makeHostCalls } from "../hostcalls/HostCalls.ts"
import { makeHostFunctionCalls } from "../hostcalls/HostFunctionCalls.ts"
import { JsonText } from "../ids/JsonText.ts"
import { now as currentTime, Timestamp } from "../ids/Timestamp.ts"
import { Journal } from "../journal/Journal.ts"
import { cancelRun } from "../runs/Attempt.ts"
import type { LogEntry, Run } from "../runs/Run.ts"
import { RunControlStore } from "../runs/RunControlStore.ts"
import type { Execution } from "../sandbox/Outcome.ts"
import type { RequestBody } from "../sandbox/RequestBody.ts"
import { type GuestLog, type Invocation, Sandbox, SandboxUnavailable } from "../sandbox/Sandbox.ts"
import { masked, maskedLogs } from "./Masking.ts"
import { type Logged, RunningRuns } from "./RunningRuns.ts"
import { callSpans, tracedRun } from "./RunSpans.ts"
import { fromStart, type Start } from "./Started.ts"

export interface Executed {
  readonly execution: Execution
  readonly logs: ReadonlyArray<LogEntry>
}

export interface Work {
  readonly run: Run
  /** JSON text of the object that becomes `svc`, but for `svc.run`. Starts with `{` and is not empty. */
  readonly facts: string
  /** Of a request; null for none. */
  readonly body: RequestBody | null
  /** The credential that asked for the run, if that needed one. */
  readonly caller: Identity | null
  readonly trigger: Invocation["trigger"]
  readonly timeoutMs: number
  /** As that of an invocation; 0 when somebody waits for the run. */
  readonly patienceMs: number
  /** Entries that precede what the guest logs. */
  readonly preface: ReadonlyArray<LogEntry>
}

export type ExecuteError = SandboxUnavailable | NotFound | StoreUnavailable

export class Executor extends Context.Service<
  Executor,
  {
    /**
     * To the end of the run, whatever its outcome. `NotFound` when its build is gone. Interruption stops the guest; a
     * run that is cancelled in the store meanwhile ends with the outcome `Cancelled`.
     * The secrets that the run read are not in its logs, nor in what is told of its failure.
     */
    readonly execute: (work: Work) => Effect.Effect<Executed, ExecuteError>
    /** As `execute`, for paths on which no fiber runs. */
    readonly start: (work: Work) => Start<Executed, ExecuteError>
    /** What a run whose execution came to no end had logged, without the secrets that it had read. */
    readonly logged: (run: Run) => Effect.Effect<ReadonlyArray<LogEntry>>
  }
>()("@weft/core/runs/Executor") {
  static readonly layer = Layer.effect(
    Executor,
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const artifacts = yield* Artifacts
      const hostCalls = yield* makeHostCalls
      const byteCalls = yield* makeByteCalls
      const hostFunctions = yield* makeHostFunctionCalls
      const running = yield* RunningRuns
      const control = yield* RunControlStore
      const journal = yield* Journal
      /** Of runs whose execution came to no end. Not of all: a weak map of those is dear, for it must be looked through. */
      const endless = new WeakMap<Run, Logged>()

      /** Nobody can settle a run that was stopped, so what it had logged is stored by itself. */
      const afterStop = Effect.fnUntraced(function* (run: Run, { logs, secrets }: Logged) {
        const kept = yield* maskedLogs(logs, secrets)
        const stored = control.log([{ env_id: run.env_id, run_id: run.run_id, entries: kept }])
        const [status] = yield* Effect.catchTag(stored, "StoreUnavailable", (error) =>
          Effect.as(Effect.logWarning(`The log of a cancelled run is lost: ${error.message}`), [])
        )
        if (status === "failed") return yield* new SandboxUnavailable({ reason: "another node took the run for lost" })
        journal.ended(cancelRun(run, yield* currentTime))
        return { execution: cancelled, logs: kept } satisfies Executed
      })

      const start: Executor["Service"]["start"] = (work) => (context, done) => {
        const { run, facts, body, caller, trigger, timeoutMs, patienceMs, preface } = work
        const logs = [...preface]
        const secrets = new Set<string>()
        const logged = { logs, secrets }
        const inSpan = callSpans()
        let hasCalled = false
        const invocation: Invocation = {
          run_id: run.run_id,
          bundle: artifacts.ref(run),
          fn: run,
          svc: `{"run":${runFacts(run)},${facts.slice(1)}`,
          ...(body === null ? {} : { body }),
          trigger,
          timeoutMs,
          patienceMs,
          onHostCall: (call) => {
            hasCalled = true
            return inSpan(
              call,
              byteCalls.answer(run, call) ?? hostFunctions.answer(run, caller, call) ?? hostCalls(run, call, secrets)
            )
          },
          onLog: (line) => void logs.push(logEntry(logs.length, line))
        }
        const endCalls = Effect.suspend(() =>
          hasCalled ? Effect.andThen(byteCalls.end(run), hostFunctions.end(run)) : Effect.void
        )
        const invoked = Effect.flatMap(Effect.ensuring(sandbox.invoke(invocation), endCalls), (execution) =>
          masked({ execution, logs }, secrets)
        )
        return running.begin({ run, logged, effect: tracedRun(run, invoked) }, context, (exit) => {
          const end = (ended: Exit.Exit<Executed, ExecuteError>) => {
            if (Exit.isFailure(ended)) endless.set(run, logged)
            done(ended)
          }
          if (exit !== null) return end(exit)
          Effect.runForkWith(context)(afterStop(run, logged)).addObserver(end)
        })
      }

      return Executor.of({
        start,

        execute: (work) => fromStart(start(work)),

        logged: (run) => {
          const { logs, secrets } = endless.get(run) ?? nothingLogged
          return maskedLogs(logs, secrets)
        }
      })
    })
  )
}

const nothingLogged: Logged = { logs: [], secrets: new Set() }

const cancelled: Execution = { outcome: { _tag: "Cancelled" }, usage: { cpu_ms: 0, wall_ms: 0, heap_bytes: 0 } }

/** `svc.run` (decisions 5.3). Nothing in it needs to be escaped. */
const runFacts = (run: Run): string => {
  const origin = run.origin_run_id === null ? "null" : `"${run.origin_run_id}"`
  return `{"run_id":"${run.run_id}","stream_id":"${run.stream_id}","env_id":"${run.env_id}","project_id":"${run.project_id}","build_id":"${run.build_id}","run_type":"${run.run_type}","attempt":${run.attempt},"origin_run_id":${origin}}`
}

const logEntry = (seq: number, line: GuestLog): LogEntry => ({
  seq,
  time: Timestamp.make(line.time, { disableChecks: true }),
  level: line.level,
  message: line.message,
  data: line.data === null ? null : JsonText.make(line.data, { disableChecks: true })
})
