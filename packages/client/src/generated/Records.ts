/** The records of responses. Generated from the definition of the API: `npm run generate -w packages/client`. */
import type { Json } from "../Json.ts"
import type { Permissions } from "../Permissions.ts"

export type {
  Evaluation,
  FunctionSeries,
  LogEntry,
  Percentiles,
  RecordedCall,
  RecordedInput,
  Recording,
  ReplResult,
  Run,
  RunActivity,
  RunCounts,
  RunRecording,
  RunSeries,
  RunStats,
  RunStep,
  RunUsage,
  RunWait,
  SeriesPoint,
  Waiting
} from "./RunRecords.ts"

export interface Alert {
  readonly alert_id: string
  readonly name: string
  /** Null for a rule about the environment */
  readonly project_id: string | null
  /** Name of the project when the rule was created */
  readonly project_name: string | null
  /** Null for a rule about a project or the environment */
  readonly ns: string | null
  readonly var: string | null
  /** `failure_share`: more than this share of the runs failed. `latency`: a percentile of `duration` or `wait` is above. `backlog`: more due deliveries, or one that has waited longer. `silence`: no run has succeeded for this time */
  readonly condition:
    | {
        readonly type: "failure_share"
        readonly share: number
        readonly min_runs: number
        readonly window_minutes: number
      }
    | {
        readonly type: "latency"
        readonly of: "duration" | "wait"
        readonly percentile: 50 | 95 | 99
        readonly over_ms: number
        readonly min_runs: number
        readonly window_minutes: number
      }
    | {
        readonly type: "backlog"
        readonly deliveries?: number
        readonly oldest_seconds?: number
      }
    | {
        readonly type: "silence"
        readonly minutes: number
      }
  /** Time for which the condition must hold before the rule fires */
  readonly for_minutes: number
  /** 1 to 5. `webhook`: a signed POST request. `event`: `svc:alert:fired` and `svc:alert:resolved`. `hook`: the callback of the host */
  readonly actions: ReadonlyArray<
    | {
        readonly type: "webhook"
        readonly url: string
      }
    | {
        readonly type: "event" | "hook"
      }
  >
  readonly enabled: boolean
  /** `pending`: the condition is true, but not yet for long enough */
  readonly state: "ok" | "pending" | "firing"
  readonly since: string
  /** Value of the latest evaluation: a share, milliseconds, a number of deliveries, seconds, or minutes; null without data */
  readonly value: number | null
  readonly evaluated_at: string | null
  /** Message of the action that failed last; null if the latest notification succeeded */
  readonly last_error: string | null
  readonly created_at: string
  readonly updated_at: string
}

export interface AlertTest {
  readonly results: ReadonlyArray<{
    readonly action:
      | {
          readonly type: "webhook"
          readonly url: string
        }
      | {
          readonly type: "event" | "hook"
        }
    /** Null if the action succeeded */
    readonly error: string | null
  }>
  /** Signs the webhooks of the rule; other responses do not contain it */
  readonly webhook_secret: string
}

export interface AlertWithSecret {
  readonly alert_id: string
  readonly name: string
  /** Null for a rule about the environment */
  readonly project_id: string | null
  /** Name of the project when the rule was created */
  readonly project_name: string | null
  /** Null for a rule about a project or the environment */
  readonly ns: string | null
  readonly var: string | null
  /** `failure_share`: more than this share of the runs failed. `latency`: a percentile of `duration` or `wait` is above. `backlog`: more due deliveries, or one that has waited longer. `silence`: no run has succeeded for this time */
  readonly condition:
    | {
        readonly type: "failure_share"
        readonly share: number
        readonly min_runs: number
        readonly window_minutes: number
      }
    | {
        readonly type: "latency"
        readonly of: "duration" | "wait"
        readonly percentile: 50 | 95 | 99
        readonly over_ms: number
        readonly min_runs: number
        readonly window_minutes: number
      }
    | {
        readonly type: "backlog"
        readonly deliveries?: number
        readonly oldest_seconds?: number
      }
    | {
        readonly type: "silence"
        readonly minutes: number
      }
  /** Time for which the condition must hold before the rule fires */
  readonly for_minutes: number
  /** 1 to 5. `webhook`: a signed POST request. `event`: `svc:alert:fired` and `svc:alert:resolved`. `hook`: the callback of the host */
  readonly actions: ReadonlyArray<
    | {
        readonly type: "webhook"
        readonly url: string
      }
    | {
        readonly type: "event" | "hook"
      }
  >
  readonly enabled: boolean
  /** `pending`: the condition is true, but not yet for long enough */
  readonly state: "ok" | "pending" | "firing"
  readonly since: string
  /** Value of the latest evaluation: a share, milliseconds, a number of deliveries, seconds, or minutes; null without data */
  readonly value: number | null
  readonly evaluated_at: string | null
  /** Message of the action that failed last; null if the latest notification succeeded */
  readonly last_error: string | null
  readonly created_at: string
  readonly updated_at: string
  /** Signs the webhooks of the rule; other responses do not contain it */
  readonly webhook_secret: string
}

export interface ApiKey {
  readonly api_key_id: string
  readonly name: string
  readonly enabled: boolean
  readonly permissions: Permissions
  readonly created_at: string
}

export interface AuditEntry {
  readonly audit_id: string
  readonly env_id: string | null
  readonly action:
    | "api_key.create"
    | "api_key.update"
    | "api_key.remove"
    | "session.create"
    | "session.revoke"
    | "session.revoke_all"
    | "service_key.create"
    | "service_key.revoke"
    | "service_key.revoke_all"
    | "context.create"
    | "context.update"
    | "context.remove"
    | "domain.add"
    | "domain.remove"
    | "build.deploy"
    | "canary.start"
    | "canary.promote"
    | "canary.rollback"
    | "build.go_live"
    | "build.end_live"
    | "build.quarantine"
    | "build.release"
    | "build.run"
    | "eval.run"
    | "repl.open"
    | "repl.input"
    | "project.remove"
    | "preview.create"
    | "preview.update"
    | "preview.remove"
    | "deliveries.cancel"
    | "dead_letters.redrive"
    | "dead_letters.discard"
    | "pause.create"
    | "pause.end"
    | "operation.create"
    | "operation.cancel"
    | "alert.create"
    | "alert.update"
    | "alert.remove"
    | "run.wake"
    | "recording.read"
    | "token.complete"
    | "file.damage"
    | "build.damage"
    | "org.create"
    | "org.update"
    | "env.create"
    | "secrets.reseal"
    | "authenticate"
  readonly outcome: "done" | "refused"
  readonly count: number
  readonly actor_type: "api-key" | "service-key" | "session" | "host" | "admin" | "token" | "unknown"
  readonly actor_id: string | null
  readonly actor_api_key_id: string | null
  readonly object_id: string | null
  readonly object_name: string | null
  readonly request_id: string | null
  readonly address: string | null
  readonly details: Json
  readonly created_at: string
}

export interface Build {
  readonly build_id: string
  readonly project_id: string
  readonly hash: string
  readonly size: number
  readonly build_type: "bundle" | "live"
  readonly deployed: boolean
  readonly active: boolean
  readonly created_at: string
  readonly updated_at: string
  readonly storage_path: string
  readonly storage_backend: string
}

export interface BuildCapabilities {
  readonly build_id: string
  readonly capabilities: Capabilities
  /** Difference to the deployed build; null without `compare` */
  readonly compared: {
    /** The deployed build; null without one */
    readonly build_id: string | null
    readonly added: Capabilities
    readonly removed: Capabilities
  } | null
}

export interface BuildManifest {
  readonly build_id: string
  /** True if the triggers of the project run this build: the live one, or else the deployed one */
  readonly active: boolean
  readonly functions: ReadonlyArray<{
    readonly ns: string
    readonly var: string
    readonly durable: boolean
    readonly timeout_ms: number
    /** Maximum attempts; 1 without retries */
    readonly attempts: number
    /** Maximum concurrent runs, or null without a limit */
    readonly concurrency: number | null
  }>
  readonly handlers: ReadonlyArray<{
    readonly ns: string
    readonly var: string
    readonly event_type: string
  }>
  readonly schedules: ReadonlyArray<{
    readonly ns: string
    readonly var: string
    readonly cron: string
    readonly timezone: string
  }>
  readonly endpoints: ReadonlyArray<{
    readonly ns: string
    readonly var: string
    readonly method: "GET" | "PUT" | "PATCH" | "DELETE" | "POST"
    readonly service: string
    readonly path: string
    readonly description: string
    readonly auth: "none" | "required"
  }>
  readonly tools: ReadonlyArray<{
    readonly ns: string
    readonly var: string
    readonly service: string
    readonly name: string
    readonly description: string
  }>
  readonly resources: ReadonlyArray<{
    readonly ns: string
    readonly var: string
    readonly service: string
    readonly name: string
    readonly description: string
  }>
  readonly prompts: ReadonlyArray<{
    readonly ns: string
    readonly var: string
    readonly service: string
    readonly name: string
    readonly description: string
  }>
}

export interface BuildWithProjectName {
  readonly build_id: string
  readonly project_id: string
  readonly hash: string
  readonly size: number
  readonly build_type: "bundle" | "live"
  readonly deployed: boolean
  readonly active: boolean
  readonly created_at: string
  readonly updated_at: string
  readonly storage_path: string
  readonly storage_backend: string
  readonly project_name: string
}

export interface Canary {
  readonly canary_id: string
  readonly project_id: string
  /** The build that gets the share */
  readonly build_id: string
  /** The deployed build, which gets the rest */
  readonly base_build_id: string
  /** `replaced`: another build was deployed */
  readonly state: "active" | "promoted" | "rolled_back" | "replaced"
  readonly settings: CanarySettings
  readonly started_at: string
  readonly window_ends_at: string
  readonly ended_at: string | null
  /** Reason for the end; null while it is active */
  readonly reason: string | null
  /** Runs since the start of all nodes, as of about one second ago */
  readonly counts: {
    readonly canary: CanarySide
    readonly base: CanarySide
  }
}

export interface CanarySettings {
  readonly share: number
  /** Expression on the event whose values stay on one side, such as `event.data.customer`; by default, each event and request has its own */
  readonly key: string | null
  readonly window_ms: number
  /** Ended runs of the canary before any rule decides; 20 by default */
  readonly min_runs: number
  /** Maximum share of failed runs */
  readonly max_failure_share: number | null
  /** Maximum by which the share of failed runs exceeds that of the deployed build */
  readonly max_failure_share_over_base: number | null
  /** Maximum ratio of the 95th percentiles */
  readonly max_latency_ratio: number | null
  readonly promote: "auto" | "manual"
}

export interface CanarySide {
  /** Runs that ended with success or a failure */
  readonly runs: number
  readonly failures: number
  readonly failure_share: number
  /** 95th percentile of the durations in milliseconds, within 5 %; null without runs */
  readonly p95_ms: number | null
}

export interface CancelledRuns {
  readonly cancelled: number
}

export interface Capabilities {
  /** Hosts of requests; `*` if the code computes some */
  readonly hosts: ReadonlyArray<string>
  /** Functions of the host */
  readonly host_functions: ReadonlyArray<string>
  /** Keys of secrets; `*` if the code computes some */
  readonly secrets: ReadonlyArray<string>
  /** `read` and `write` */
  readonly files: ReadonlyArray<string>
  /** Types of published events; `*` if the code computes some */
  readonly publishes: ReadonlyArray<string>
  /** Types of handled events */
  readonly handles: ReadonlyArray<string>
  /** Function and cron expression */
  readonly schedules: ReadonlyArray<string>
  /** Webhooks */
  readonly endpoints: ReadonlyArray<string>
  /** Tools, resources and prompts of models */
  readonly tools: ReadonlyArray<string>
}

export interface Check {
  readonly name: string
  readonly status: "ok" | "warning" | "failure"
  readonly seen: string
  readonly remedy: string | null
}

export interface CompletedToken {
  readonly token_id: string
  readonly run_id: string
  readonly name: string
  readonly completed_at: string
}

export interface ContextVariable {
  readonly key: string
  readonly description: string
  readonly created_at: string
  readonly updated_at: string
}

export interface CreatedApiKey {
  readonly api_key_id: string
  readonly name: string
  readonly enabled: boolean
  readonly permissions: Permissions
  readonly created_at: string
  readonly token: string
}

export interface CreatedServiceKey {
  readonly service_key_id: string
  readonly name: string
  readonly description: string
  readonly permissions: Permissions
  readonly metadata: Json
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly active: boolean
  readonly created_at: string
  readonly token: string
}

export interface CreatedSession {
  readonly session_id: string
  readonly permissions: Permissions
  readonly metadata: Json
  readonly expires_at: string
  readonly created_at: string
  readonly token: string
}

export interface DeadLetter {
  /** Run of the last attempt, and id of the letter */
  readonly run_id: string
  readonly stream_id: string
  readonly event_id: string | null
  readonly event_type: string
  readonly project_id: string
  readonly build_id: string
  readonly project_name: string
  readonly ns: string
  readonly var: string
  readonly run_type: "call" | "event" | "schedule" | "run" | "eval" | "repl"
  /** `failed`, or `cancelled` if it expired before its start */
  readonly status: "running" | "succeeded" | "failed" | "cancelled"
  /** Number of the last attempt */
  readonly attempt: number
  readonly start_time: string
  readonly dead_since: string
  /** Error of the last attempt; null if it is large: see the result of the run */
  readonly error: {
    readonly name: string
    readonly message: string
  } | null
}

export interface Delivery {
  readonly delivery_id: string
  readonly event_id: string
  readonly event_type: string
  readonly project_id: string
  readonly project_name: string
  readonly ns: string
  readonly var: string
  readonly attempt: number
  /** The suspended run that it continues; null for others */
  readonly continues: string | null
  readonly created_at: string
  readonly waiting: Wait
}

export interface Diagnosis {
  readonly version: string
  readonly node_version: string
  readonly time: string
  readonly checks: ReadonlyArray<Check>
}

export interface DiscardedDeadLetters {
  readonly discarded: number
  /** For a dry run, number of letters that the request would change */
  readonly matched?: number
  /** Letters that stay as they are, by reason */
  readonly skipped: ReadonlyArray<{
    readonly reason: string
    readonly count: number
  }>
  /** Cursor of the next request if more letters match; null otherwise */
  readonly next: string | null
}

export interface Domain {
  readonly domain_id: string
  readonly env_id: string
  readonly domain: string
  readonly status: "pending_validation" | "validated" | "provisioning" | "active" | "deleting"
  readonly validation_cname_name: string
  readonly validation_cname_value: string
  readonly routing_domain: string | null
  readonly created_at: string
}

export interface DomainVerification {
  readonly domain_id: string
  readonly domain: string
  readonly status: "pending_validation" | "validated" | "provisioning" | "active" | "deleting"
  /** The next step; while validation is pending, the CNAME record to add */
  readonly message: string
}

export interface DynamicSchedule {
  readonly schedule_id: string
  readonly project_id: string
  readonly ns: string
  readonly var: string
  readonly args: Json
  readonly cron: string | null
  readonly timezone: string
  readonly next_at: string
  readonly created_at: string
}

export interface Environment {
  readonly env_id: string
  readonly org_id: string
  readonly name: string
  readonly active: boolean
}

export interface Event {
  readonly event_id: string
  readonly env_id: string
  readonly stream_id: string
  readonly event_type: string
  readonly event_data: Json
  readonly event_time: string
  readonly created_at: string
}

export interface EventHandler {
  readonly event_handler_id: string
  readonly build_id: string
  readonly event_type: string
  readonly ns: string
  readonly var: string
}

export interface File {
  readonly file_id: string
  readonly path: string
  readonly size: number
  readonly etag: string
  readonly content_type: string
  readonly storage_backend: string
  readonly created_by_run_id: string | null
  readonly updated_by_run_id: string | null
  readonly created_at: string
  readonly updated_at: string
}

export interface FileLink {
  /** Downloads the file without a credential, until the link expires */
  readonly url: string
}

export interface Health {
  readonly status: "ok"
}

export interface MultipartUpload {
  readonly upload_id: string
  readonly path: string
  readonly part_size: number
  readonly parts_expected: number
  readonly expires_at: string
}

export interface NodeStatus {
  readonly version: string
  readonly git_sha: string
  readonly start_time: string
  /** The metrics of `GET /metrics`, without histograms */
  readonly metrics: ReadonlyArray<{
    readonly name: string
    readonly type: "counter" | "gauge"
    readonly help: string
    readonly labels: Readonly<Record<string, string>>
    readonly value: number
  }>
}

export interface NodeSummary {
  readonly node_id: string
  readonly version: string | null
  readonly git_sha: string | null
  readonly start_time: string
  /** Slots of claimed deliveries; one of a large event takes several */
  readonly deliveries_running: number
  readonly deliveries_max: number
}

export interface Operation {
  readonly operation_id: string
  readonly kind: "cancel" | "replay" | "redrive"
  /** `pending` while an older operation of the environment executes */
  readonly state: "pending" | "running" | "succeeded" | "cancelled" | "failed"
  readonly filter: OperationFilter
  readonly options: OperationOptions
  /** Number of runs that matched when the operation was created */
  readonly total: number
  /** Number of runs that it cancelled, or started again */
  readonly done: number
  /** Number of runs that needed nothing: they had ended, their delivery was retried or redriven, or they have no event, as webhooks and tools */
  readonly skipped: number
  /** Number of runs that it could not process */
  readonly failed: number
  /** The newest of these runs; at most 10 */
  readonly failures: ReadonlyArray<OperationFailure>
  /** Reason why it does not progress now, such as a limit of the plan; null otherwise */
  readonly waiting: string | null
  /** Reason of the state `failed`; null otherwise */
  readonly error: string | null
  readonly created_at: string
  /** Type and id of the credential */
  readonly created_by: string
  readonly started_at: string | null
  readonly ended_at: string | null
}

export interface OperationFailure {
  readonly run_id: string
  readonly reason: string
}

export interface OperationFilter {
  readonly status?: "running" | "succeeded" | "failed" | "cancelled"
  readonly type?: "call" | "event" | "schedule" | "run" | "eval" | "repl"
  /** Only suspended durable runs that wait for this; `any` for all of them */
  readonly waiting?: "timer" | "event" | "retry" | "token" | "run" | "node" | "any"
  /** Only of this project: its id, or its name when the runs started */
  readonly project?: string
  /** Only of this function: `ns/var` or `project:ns/var` */
  readonly fn?: string
  /** Only runs that this event triggered */
  readonly event_id?: string
  /** Only runs that events of this type triggered */
  readonly event_type?: string
  /** Only failed runs with this text in the name or the message of their error, 1 to 200 characters; ASCII case is ignored. A replay then needs the `status` `failed` */
  readonly error?: string
  readonly since?: string
}

export interface OperationOptions {
  /** Of a replay or redrive: `same`, the default, is the build of the run; `deployed` the active build of its project */
  readonly build?: "same" | "deployed"
  /** Maximum runs per second, 1 to 10,000; without it, as many as the node allows */
  readonly rate?: number
}

export interface OperationPreview {
  readonly matched: number
}

export interface Organization {
  readonly org_id: string
  readonly slug: string
  readonly name: string
  readonly plan: "Free" | "Starter" | "Pro" | "Scale" | "Enterprise" | "Self-Host"
  readonly members: number
  readonly created_at: string
  readonly updated_at: string
}

export interface OrganizationUsage {
  readonly org_id: string
  readonly usage: {
    /** Runs that began in the period */
    readonly runs_this_period: number
    /** In bytes */
    readonly file_storage_bytes: number
    readonly team_members: number
    /** Bytes of the results and logs of all stored runs */
    readonly call_storage_bytes: number
    /** Number of stored runs */
    readonly call_count: number
  }
  readonly limits: {
    /** -1 for unlimited */
    readonly runs_per_month: number
    /** -1 for unlimited */
    readonly storage_bytes: number
    /** -1 for unlimited */
    readonly team_members: number
    /** -1 for unlimited */
    readonly call_retention_days: number
    /** -1 for unlimited */
    readonly call_storage_bytes: number
  }
  readonly usage_percent: {
    readonly runs: number
    readonly file_storage: number
    readonly team_members: number
    readonly call_storage: number
    /** True if any value exceeds 90 */
    readonly has_warning: boolean
  }
  readonly plan: {
    readonly name: "Free" | "Starter" | "Pro" | "Scale" | "Enterprise" | "Self-Host"
    readonly period_start: string
    readonly period_end: string
  }
}

export interface OwnEnvironment {
  readonly env_id: string
  readonly org_id: string
  readonly name: string
  readonly active: boolean
  /** Extension: the first part of the URLs of webhooks and tools */
  readonly org_slug: string
}

export interface Pause {
  readonly pause_id: string
  /** Null for a pause of the environment */
  readonly project_id: string | null
  /** Name of the project when it was paused */
  readonly project_name: string | null
  /** Null for a pause of a project or of the environment */
  readonly ns: string | null
  readonly var: string | null
  readonly schedules: "late" | "skip"
  readonly paused_at: string
  /** Type and id of the credential */
  readonly paused_by: string
}

export interface PauseState {
  readonly pause_id: string
  /** Null for a pause of the environment */
  readonly project_id: string | null
  /** Name of the project when it was paused */
  readonly project_name: string | null
  /** Null for a pause of a project or of the environment */
  readonly ns: string | null
  readonly var: string | null
  readonly schedules: "late" | "skip"
  readonly paused_at: string
  /** Type and id of the credential */
  readonly paused_by: string
  readonly runs: {
    /** Runs that execute; 0 after they have drained */
    readonly executing: number
    /** Suspended durable runs, which continue at their time */
    readonly suspended: number
  }
}

export interface Plan {
  readonly name: "Free" | "Starter" | "Pro" | "Scale" | "Enterprise" | "Self-Host"
  readonly limits: {
    /** -1 for unlimited */
    readonly requests_per_second: number
    /** -1 for unlimited */
    readonly host_calls_per_second: number
    readonly tcp_sockets_per_run: number
    /** -1 for unlimited */
    readonly max_file_bytes: number
    /** -1 for unlimited */
    readonly runs_per_month: number
    /** -1 for unlimited */
    readonly storage_bytes: number
    /** -1 for unlimited */
    readonly team_members: number
    /** -1 for unlimited */
    readonly call_retention_days: number
    /** -1 for unlimited */
    readonly call_storage_bytes: number
    /** -1 for unlimited */
    readonly domains: number
    /** -1 for unlimited */
    readonly max_chain_depth: number
    /** -1 for unlimited */
    readonly max_steps_per_run: number
    /** -1 for unlimited */
    readonly max_step_result_bytes: number
    /** -1 for unlimited */
    readonly max_suspended_runs: number
    /** -1 for unlimited */
    readonly max_pending_deliveries: number
    /** -1 for unlimited */
    readonly max_schedules: number
    readonly max_eval_source_bytes: number
    /** -1 for unlimited */
    readonly max_repl_sessions: number
    /** -1 for unlimited */
    readonly max_alert_rules: number
    /** -1 for unlimited */
    readonly max_previews: number
  }
}

export interface Preview {
  readonly project_id: string
  readonly name: string
  /** Environment of the preview */
  readonly env_id: string
  /** Build of the project that was copied; the copy has the same hash and another id */
  readonly build_id: string
  /** Base URL of its webhooks; a path if the host has no public URL */
  readonly url: string
  /** True if the schedules of the build fire; they are off by default */
  readonly schedules: boolean
  /** True if events of the environment that no function published also reach the preview, as copies; off by default */
  readonly copy_events: boolean
  /** With `project` (the default), functions also read the secrets of the project; with `own`, only those of the preview */
  readonly secrets: "project" | "own"
  readonly created_at: string
  readonly updated_at: string
  readonly expires_at: string
}

export interface Project {
  readonly project_id: string
  readonly env_id: string
  readonly name: string
  readonly active: boolean
  readonly created_at: string
  readonly updated_at: string
}

export interface RedrivenDeadLetters {
  readonly redriven: number
  /** For a dry run, number of letters that the request would change */
  readonly matched?: number
  /** Letters that stay as they are, by reason */
  readonly skipped: ReadonlyArray<{
    readonly reason: string
    readonly count: number
  }>
  /** Cursor of the next request if more letters match; null otherwise */
  readonly next: string | null
}

export interface ReplCompletion {
  /** Start of the text that a candidate replaces */
  readonly from: number
  readonly candidates: ReadonlyArray<string>
}

export interface ReplSession {
  readonly repl_id: string
  readonly env_id: string
  /** Project of the build of its context; null without one */
  readonly project_name: string | null
  readonly build_id: string | null
  readonly created_at: string
  readonly expires_at: string
  /** Number of inputs so far */
  readonly inputs: number
  /** True while it evaluates an input */
  readonly busy: boolean
}

export interface Resealed {
  /** Id of the current master key */
  readonly key_id: string
  /** Number of values that were encrypted again with it */
  readonly resealed: number
  /** Number of values that no master key of this server decrypts */
  readonly unreadable: number
}

export interface Revoked {
  readonly revoked_count: number
}

export interface Schedule {
  readonly schedule_id: string
  readonly build_id: string
  readonly cron: string
  readonly ns: string
  readonly var: string
}

export interface ServiceKey {
  readonly service_key_id: string
  readonly name: string
  readonly description: string
  readonly permissions: Permissions
  readonly metadata: Json
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly active: boolean
  readonly created_at: string
}

export interface Session {
  readonly session_id: string
  readonly permissions: Permissions
  readonly metadata: Json
  readonly expires_at: string
  readonly created_at: string
}

export interface Status {
  readonly status: string
  readonly service: string
  readonly version: string
  readonly git_sha: string
  readonly start_time: string
}

export interface UpcomingTicks {
  readonly schedule_id: string
  readonly project_id: string
  readonly kind: "static" | "dynamic"
  readonly ns: string
  readonly var: string
  readonly cron: string | null
  readonly timezone: string
  readonly next_at: string
  /** Ticks of the period, ascending, at most 50 */
  readonly ticks: ReadonlyArray<string>
  /** True if the period has further ticks */
  readonly more: boolean
}

export interface UploadedBuild {
  readonly build_id: string
  readonly project_id: string
  readonly hash: string
  readonly size: number
  readonly storage_path: string
  readonly storage_backend: string
  readonly created_at: string
}

export interface UploadedFile {
  readonly file_id: string
  readonly path: string
  readonly size: number
  readonly etag: string
  readonly content_type: string
  readonly storage_backend: string
  readonly created_at: string
  readonly updated_at: string
}

export interface UploadedPart {
  readonly part_number: number
  readonly size: number
  readonly etag: string
}

export interface Wait {
  /** `slot`: due, and no node has claimed it. `group`: its concurrency key is at its limit. `throttle`, `debounce`: flow control. `batch`: further events may join it. `delay`: published for later. `retry`: the pause before the next attempt. `timer`, `event`, `token`, `run`: a durable run, or the next tick of a schedule. `node`: its node is down. `plan`: the plan allows no more runs. `paused`: its function, project or environment is paused */
  readonly reason:
    | "slot"
    | "group"
    | "throttle"
    | "debounce"
    | "batch"
    | "delay"
    | "retry"
    | "timer"
    | "event"
    | "token"
    | "run"
    | "node"
    | "plan"
    | "paused"
  readonly since: string
  /** End of the wait; null if something else ends it */
  readonly until: string | null
  /** Key of the group or throttle, or name of the timer, step, event, token or run. Of a batch the number of its events, of a pause its credential. Null for other reasons */
  readonly detail: string | null
}

export interface WaitingItem {
  readonly object: "delivery" | "run" | "schedule"
  readonly id: string
  readonly project_id: string
  readonly ns: string
  readonly var: string
  readonly waiting: Wait
}
