/**
 * Runs one function in the sandbox and collects its log. Event handlers, webhooks and calls share this step.
 */
import { Clock, Context, Effect, Exit, Layer } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import { JsonText } from "../../foundation/JsonText.ts"
import { now as currentTime, Timestamp } from "../../foundation/time/Timestamp.ts"
import { defaultLimits } from "../../platform/sandbox/Limits.ts"
import type { Execution } from "../../platform/sandbox/Outcome.ts"
import type { RequestBody } from "../../platform/sandbox/RequestBody.ts"
import {
  type GuestLog,
  type HostCall,
  type HostCallRefused,
  type Invocation,
  Sandbox,
  SandboxUnavailable
} from "../../platform/sandbox/Sandbox.ts"
import { Artifacts } from "../../resources/builds/Artifacts.ts"
import type { RecordingRules } from "../../resources/builds/RecordingRules.ts"
import type { Identity } from "../../tenants/access/Caller.ts"
import { Journal } from "../journal/Journal.ts"
import { cancelRun } from "../runs/Attempt.ts"
import type { LogEntry, Run } from "../runs/Run.ts"
import { RunControlStore } from "../runs/RunControlStore.ts"
import { makeGuestCalls } from "../svc/GuestCalls.ts"
import type { ModelClient } from "../svc/ModelClient.ts"
import type { CallingRun } from "../svc/Operation.ts"
import { ActiveRuns, type RunLogBuffer } from "./ActiveRuns.ts"
import { type CallbackTask, fromCallbackTask } from "./CallbackTask.ts"
import { maskExecuted, maskJson, maskLog } from "./maskLog.ts"
import { RecordingWriter } from "./RecordingWriter.ts"
import { isReport } from "./ReplayedCalls.ts"
import { callSpans, tracedRun } from "./RunSpans.ts"
import type { SourceRun } from "./SourceRun.ts"

export interface Executed {
  readonly execution: Execution
  readonly logs: ReadonlyArray<LogEntry>
}

export interface ExecutorWork {
  readonly run: Run
  /** Depth of the run in its chain of events; 0 without an event. */
  readonly depth: number
  /** JSON text of the object that becomes `svc`, but for `svc.run`. Starts with `{` and is not empty. */
  readonly facts: string
  /** Body of the request; null without one. */
  readonly body: RequestBody | null
  /** Credential of the caller, if the trigger requires one. */
  readonly caller: Identity | null
  readonly trigger: Invocation["trigger"]
  readonly timeoutMs: number
  /** As that of an invocation; 0 if a client waits for the run. */
  readonly queueTimeoutMs: number
  /** Log entries before those of the guest. */
  readonly preface: ReadonlyArray<LogEntry>
  /** Of durable runs; null for others. */
  readonly durable: DurableWork | null
  /** The MCP client that waits for the run, if one does. */
  readonly client?: ModelClient
  /** Of source text; without it the run is of a build. */
  readonly source?: SourceRun
  /** The recording of the run; without it, none is made. */
  readonly recording?: RecordingRules | undefined
}

/** The additional parts of a durable run. */
export interface DurableWork {
  /** JSON text of the fact `durable`. */
  readonly fact: string
  /** Recorded results in their order, as `Invocation.replay`. */
  readonly replay: ReadonlyArray<string>
  /** Called before the guest starts. */
  readonly onStart: (log: RunLogWriter) => void
  /** Secrets that the function has received, to be masked in its log. Calls may add to them. */
  readonly secrets: Set<string>
  /** Answers host calls `workflow.*`. */
  readonly answer: (call: HostCall) => Effect.Effect<string, HostCallRefused>
}

/** Access of a durable run to its log, and to the secrets that the log hides. */
export interface RunLogWriter {
  /** Adds a warning to the log. */
  readonly warn: (message: string) => void
  /** Masks the secrets that the run has read in a JSON text. */
  readonly mask: (text: JsonText) => JsonText
}

export type ExecuteError = SandboxUnavailable | NotFound | StoreUnavailable

export class Executor extends Context.Service<
  Executor,
  {
    /**
     * Executes the run to its end, whatever its outcome. Fails with `NotFound` if its build was deleted. Interruption
     * stops the guest. A run that is cancelled in the store meanwhile ends with the outcome `Cancelled`.
     * Secrets that the run read are masked in its logs and in the error of its outcome.
     */
    readonly execute: (work: ExecutorWork) => Effect.Effect<Executed, ExecuteError>
    /** As `execute`, for code without a fiber. */
    readonly start: (work: ExecutorWork) => CallbackTask<Executed, ExecuteError>
    /** Returns the log of a run whose execution failed, with secrets masked. */
    readonly logged: (run: Run) => Effect.Effect<ReadonlyArray<LogEntry>>
  }
>()("@weft/core/runtime/execution/Executor") {
  static readonly layer = Layer.effect(
    Executor,
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const artifacts = yield* Artifacts
      const guestCalls = yield* makeGuestCalls
      const activeRuns = yield* ActiveRuns
      const control = yield* RunControlStore
      const journal = yield* Journal
      const recordings = yield* RecordingWriter
      const clock = yield* Clock.Clock
      /** Logs of runs whose execution failed. Only of these: garbage collection must scan a weak map. */
      const failedLogs = new WeakMap<Run, RunLogBuffer>()

      /** Stores the log of a stopped run. A cancelled run cannot be settled, so its log is stored separately. */
      const afterStop = Effect.fnUntraced(function* (run: Run, { logs, secrets }: RunLogBuffer) {
        const kept = yield* maskLog(logs, secrets)
        const stored = control.log([{ env_id: run.env_id, run_id: run.run_id, entries: kept }])
        const [status] = yield* Effect.catchTag(stored, "StoreUnavailable", (error) =>
          Effect.as(Effect.logWarning(`The log of a cancelled run is lost: ${error.message}`), [])
        )
        if (status === "failed")
          return yield* new SandboxUnavailable({ reason: "another node considered the run lost" })
        journal.countEnded(cancelRun(run, yield* currentTime))
        return { execution: cancelledExecution, logs: kept } satisfies Executed
      })

      const start: Executor["Service"]["start"] = (work) => (context, done) => {
        const { run, depth, facts, body, caller, trigger, timeoutMs, queueTimeoutMs, preface, durable, client } = work
        const { source, recording } = work
        const logs = [...preface]
        const secrets = durable?.secrets ?? new Set<string>()
        const logged = { logs, secrets }
        const inSpan = callSpans()
        /** Set by the first call, because most runs make none. */
        let calling: CallingRun | null = null
        const append = durable === null ? makeLog(logs, secrets, source?.onLog) : makeContinuedLog(logs)
        const warn: RunLogWriter["warn"] = (message) =>
          append({ time: clock.currentTimeMillisUnsafe(), level: "warn", message, data: null })
        const logPlanRefusal = makePlanRefusalLog(warn)
        durable?.onStart({ warn, mask: (text) => maskJson(text, secrets) })
        const svc = `{"run":${formatRun(run)},${durable === null ? "" : `"durable":${durable.fact},`}${facts.slice(1)}`
        const recorder =
          recording === undefined
            ? null
            : recordings.begin(run, recording, {
                ...{ trigger, svc, body, timeout_ms: timeoutMs },
                ...(durable === null ? {} : { replay: durable.replay })
              })
        const invocation: Invocation = {
          run_id: run.run_id,
          bundle: source?.bundle ?? artifacts.ref(run),
          fn: run,
          svc,
          ...(durable === null ? {} : { replay: durable.replay }),
          ...(body === null ? {} : { body }),
          trigger,
          timeoutMs,
          queueTimeoutMs,
          onHostCall: (call) => {
            if (durable !== null && call.op.startsWith("workflow.")) {
              const answer = guestCalls.atRate(run, durable.answer(call))
              return recorder === null || isReport(call.op) ? answer : recorder.observe(call, answer)
            }
            calling ??= { ...run, depth, client, rights: source?.rights }
            const gated = source?.gate?.(call) ?? call
            const answer = Effect.isEffect(gated)
              ? guestCalls.atRate(run, gated)
              : guestCalls.answer(calling, caller, gated, secrets)
            const answered = inSpan(call, Effect.tapError(answer, logPlanRefusal))
            return recorder === null ? answered : recorder.observe(call, answered)
          },
          onLog: append
        }
        const closeCalls = Effect.suspend(() => (calling === null ? Effect.void : guestCalls.end(run)))
        const invoked = Effect.flatMap(Effect.ensuring(sandbox.invoke(invocation), closeCalls), (execution) => {
          if (recorder !== null) recordings.end(recorder, execution, secrets)
          return maskExecuted({ execution, logs }, secrets)
        })
        return activeRuns.begin({ run, logged, effect: tracedRun(run, invoked) }, context, (exit) => {
          const end = (ended: Exit.Exit<Executed, ExecuteError>) => {
            if (Exit.isFailure(ended)) failedLogs.set(run, logged)
            done(ended)
          }
          // A stopped run, and one that this node could not finish, have no recording.
          if (exit === null || Exit.isFailure(exit)) recorder?.release()
          if (exit !== null) return end(exit)
          Effect.runForkWith(context)(afterStop(run, logged)).addObserver(end)
        })
      }

      return Executor.of({
        start,

        execute: (work) => fromCallbackTask(start(work)),

        logged: (run) => {
          const { logs, secrets } = failedLogs.get(run) ?? nothingLogged
          return maskLog(logs, secrets)
        }
      })
    })
  ).pipe(Layer.provide(RecordingWriter.layer))
}

const nothingLogged: RunLogBuffer = { logs: [], secrets: new Set() }

const cancelledExecution: Execution = {
  outcome: { _tag: "Cancelled" },
  usage: { cpu_ms: 0, wall_ms: 0, heap_bytes: 0 }
}

/** Returns the JSON text of `svc.run` (decisions 5.3). None of its values needs escapes. */
const formatRun = (run: Run): string => {
  const origin = run.origin_run_id === null ? "null" : `"${run.origin_run_id}"`
  return `{"run_id":"${run.run_id}","stream_id":"${run.stream_id}","env_id":"${run.env_id}","project_id":"${run.project_id}","build_id":"${run.build_id}","run_type":"${run.run_type}","attempt":${run.attempt},"origin_run_id":${origin}}`
}

/** Returns a function that logs the first refusal of a call by the plan, because the code may ignore the error. */
const makePlanRefusalLog = (warn: RunLogWriter["warn"]) => {
  let isLogged = false
  return ({ name, message }: HostCallRefused) =>
    Effect.sync(() => {
      if (isLogged || name !== "PlanRequired") return
      isLogged = true
      warn(message)
    })
}

const makeLog =
  (logs: Array<LogEntry>, secrets: ReadonlySet<string>, onLog: SourceRun["onLog"]) =>
  (line: GuestLog): void => {
    const entry = toLogEntry(logs.length, line)
    logs.push(entry)
    onLog?.(entry, secrets)
  }

/** Maximum characters of the log of a durable run. Each of its activations is an invocation with a limit of its own. */
const continuedLogMax = defaultLimits.logBytes

/** Returns a function that continues the log of a durable run, and drops lines beyond the limit after a last one. */
const makeContinuedLog = (logs: Array<LogEntry>) => {
  let length = logs.reduce((sum, entry) => sum + lengthOf(entry), 0)
  const last = `log limit of ${continuedLogMax} characters of a durable run: later lines are dropped`
  let isFull = logs.at(-1)?.message === last
  return (line: GuestLog): void => {
    if (isFull) return
    length += lengthOf(line)
    isFull = length > continuedLogMax
    logs.push(toLogEntry(logs.length, isFull ? { ...line, level: "warn", message: last, data: null } : line))
  }
}

const lengthOf = ({ message, data }: Pick<LogEntry, "message"> & { readonly data: string | null }): number =>
  message.length + (data?.length ?? 0)

const toLogEntry = (seq: number, line: GuestLog): LogEntry => ({
  seq,
  time: Timestamp.make(line.time, { disableChecks: true }),
  level: line.level,
  message: line.message,
  data: line.data === null ? null : JsonText.make(line.data, { disableChecks: true })
})
