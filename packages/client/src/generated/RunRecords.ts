/** The records of runs. Generated from the definition of the API: `npm run generate -w packages/client`. */
import type { Json } from "../Json.ts"

export interface Evaluation {
  readonly run_id: string
  readonly env_id: string
  readonly stream_id: string
  readonly build_id: string
  readonly start_time: string
  readonly stop_time: string | null
  readonly result: Json
  readonly project_id: string
  readonly run_type: "call" | "event" | "schedule" | "run" | "eval" | "repl"
  readonly status: "running" | "succeeded" | "failed" | "cancelled"
  readonly cpu_ms: number | null
  readonly wall_ms: number | null
  readonly heap_bytes: number | null
  readonly logs: ReadonlyArray<LogEntry>
}

export interface FunctionSeries {
  /** Null for the sum of all functions without a series of their own */
  readonly project_id: string | null
  readonly project_name: string | null
  readonly ns: string | null
  readonly var: string | null
  readonly total: RunCounts
  /** Steps in which runs started or ended, in their order */
  readonly points: ReadonlyArray<SeriesPoint>
}

export interface LogEntry {
  readonly seq: number
  readonly time: string
  readonly level: "debug" | "info" | "warn" | "error"
  readonly message: string
  readonly data: Json
}

export interface Percentiles {
  readonly p50_ms: number
  readonly p95_ms: number
  readonly p99_ms: number
}

export interface RecordedCall {
  /** Name of the operation */
  readonly op: string
  /** JSON text of the arguments */
  readonly args: string
  /** JSON text of the answer; null if the call failed, or has no recorded end */
  readonly answer: string | null
  /** Error of the call; null if it succeeded, or has no recorded end */
  readonly error: {
    readonly name: string
    readonly message: string
  } | null
  /** Number in the order in which the calls ended, from 0; null without a recorded end */
  readonly ended: number | null
}

export interface RecordedInput {
  /** Property of `svc` that is the argument of the function */
  readonly trigger: "event" | "request" | "tick" | "args" | "tool" | "resource" | "prompt" | "batch"
  /** JSON text of the facts that become `svc` */
  readonly svc: string
  /** Body of the request of a webhook */
  readonly body: {
    readonly text: string
    readonly as: "json" | "text" | "form" | "given"
  } | null
  readonly timeout_ms: number
  /** JSON texts of the results before the last activation of a durable run */
  readonly replay?: ReadonlyArray<string>
}

export interface Recording {
  readonly run_id: string
  readonly env_id: string
  readonly project_id: string
  readonly build_id: string
  readonly project_name: string
  readonly ns: string
  readonly var: string
  readonly run_type: "call" | "event" | "schedule" | "run" | "eval" | "repl"
  readonly status: "running" | "succeeded" | "failed" | "cancelled"
  readonly start_time: string
  readonly expires_at: string
  /** True if the host calls of the run were recorded */
  readonly host_calls: boolean
  /** True if the run made more host calls than were recorded */
  readonly truncated: boolean
  /** Characters of the recorded texts */
  readonly length: number
}

export interface ReplResult {
  readonly run_id: string
  readonly env_id: string
  readonly stream_id: string
  readonly build_id: string
  readonly start_time: string
  readonly stop_time: string | null
  readonly result: Json
  readonly project_id: string
  readonly run_type: "call" | "event" | "schedule" | "run" | "eval" | "repl"
  readonly status: "running" | "succeeded" | "failed" | "cancelled"
  readonly cpu_ms: number | null
  readonly wall_ms: number | null
  readonly heap_bytes: number | null
  readonly logs: ReadonlyArray<LogEntry>
  /** The result for people, also if JSON cannot represent it; empty without a result */
  readonly text: string
  /** Reason for the end of the session, whose variables are gone; null if it continues */
  readonly ended: string | null
}

export interface Run {
  readonly run_id: string
  readonly env_id: string
  readonly stream_id: string
  readonly build_id: string
  readonly run_type: "call" | "event" | "schedule" | "run" | "eval" | "repl"
  readonly status: "running" | "succeeded" | "failed" | "cancelled"
  readonly start_time: string
  readonly stop_time: string | null
  readonly origin_run_id: string | null
  readonly event_id: string | null
  /** Extension: present for runs of batches only. The ids of all events in their order, the first as `event_id` */
  readonly event_ids?: ReadonlyArray<string>
  readonly result: Json
  readonly project_id: string
  readonly project_name: string
  /** Extension: name of the preview that the run belongs to; absent for all other runs */
  readonly preview?: string
  /** Extension: present for durable runs only, as the following fields */
  readonly durable?: true
  /** Extension: the wait of a suspended run that ends first; null while it is active and after its end */
  readonly waiting?: Waiting | null
  /** Extension: number of recorded results */
  readonly steps?: number
  /** Extension: times that the run entered an isolate, from 1 */
  readonly activations?: number
  readonly usage?: RunUsage
}

export interface RunActivity {
  readonly since: string
  /** False if only the newest 5,000 runs were counted, since a later time than requested */
  readonly complete: boolean
  /** Ended runs of each minute with one, by outcome */
  readonly minutes: ReadonlyArray<{
    readonly time: string
    readonly succeeded: number
    readonly failed: number
    readonly cancelled: number
  }>
  readonly p50_ms: number | null
  readonly p95_ms: number | null
  /** Functions with failed runs, the most failures first, each with its newest failed run; at most 20 */
  readonly failures: ReadonlyArray<{
    readonly project_id: string
    readonly project_name: string
    readonly ns: string
    readonly var: string
    readonly failed: number
    readonly run_id: string
  }>
}

export interface RunCounts {
  readonly succeeded: number
  /** Failed runs, with those that another attempt follows */
  readonly failed: number
  readonly cancelled: number
  /** Failed runs that another attempt follows */
  readonly retried: number
  /** Times from the event, or from the due time of a later attempt, to the start, within 5 %; null if no run waited */
  readonly wait: Percentiles | null
  /** Times from the start to the end of succeeded and failed runs, within 5 %; null without one */
  readonly duration: Percentiles | null
}

export interface RunRecording {
  readonly run_id: string
  readonly env_id: string
  readonly project_id: string
  readonly build_id: string
  readonly project_name: string
  readonly ns: string
  readonly var: string
  readonly run_type: "call" | "event" | "schedule" | "run" | "eval" | "repl"
  readonly status: "running" | "succeeded" | "failed" | "cancelled"
  readonly start_time: string
  readonly expires_at: string
  /** True if the host calls of the run were recorded */
  readonly host_calls: boolean
  /** True if the run made more host calls than were recorded */
  readonly truncated: boolean
  /** Characters of the recorded texts */
  readonly length: number
  readonly input: RecordedInput
  /** In the order in which the run made them */
  readonly calls: ReadonlyArray<RecordedCall>
  /** JSON text of the result of the run */
  readonly result: string
  /** Fields whose values were not recorded */
  readonly redact: ReadonlyArray<string>
}

export interface RunSeries {
  readonly from: string
  readonly to: string
  readonly step_seconds: number
  /** Of the 20 functions with the most ended runs, and last the sum of the others */
  readonly series: ReadonlyArray<FunctionSeries>
}

export interface RunStats {
  readonly total_runs: number
  readonly running: number
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
}

export interface RunStep {
  readonly position: number
  readonly seq: number
  readonly kind: "step" | "sleep" | "event" | "run" | "token" | "completion" | "call" | "version" | "cancel" | "stall"
  readonly name: string
  readonly ok: boolean
  /** Null if the request failed or has no result; absent if the result is a secret */
  readonly result?: Json
  /** `{name, message, stack}` if the request failed, else null */
  readonly error: Json
  readonly attempts: number
  readonly started_at: string
  readonly ended_at: string
}

export interface RunUsage {
  readonly ns: string
  readonly var: string
  readonly attempt: number
  readonly cpu_ms: number | null
  readonly wall_ms: number | null
  readonly heap_bytes: number | null
}

export interface RunWait {
  readonly seq: number
  readonly kind: "step" | "sleep" | "event" | "run" | "token" | "completion" | "call" | "version" | "cancel" | "stall"
  readonly name: string
  /** Type of the awaited event; null for other kinds */
  readonly event_type: string | null
  /** For `run`: the event that starts the child run; null for other kinds */
  readonly child_event_id: string | null
  /** For `step`: failed attempts so far */
  readonly attempts: number
  readonly since: string
  readonly until: string | null
}

export interface SeriesPoint {
  readonly time: string
  readonly succeeded: number
  /** Failed runs, with those that another attempt follows */
  readonly failed: number
  readonly cancelled: number
  /** Failed runs that another attempt follows */
  readonly retried: number
  /** Times from the event, or from the due time of a later attempt, to the start, within 5 %; null if no run waited */
  readonly wait: Percentiles | null
  /** Times from the start to the end of succeeded and failed runs, within 5 %; null without one */
  readonly duration: Percentiles | null
}

export interface Waiting {
  readonly for: "timer" | "event" | "retry" | "token" | "run" | "node"
  readonly name: string
  readonly since: string
  readonly until: string | null
}
