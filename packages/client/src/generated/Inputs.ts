/** The inputs of requests. Generated from the definition of the API: `npm run generate -w packages/client`. */
import type { PageQuery } from "../Pages.ts"

import type { Permissions } from "../Permissions.ts"

export interface AlertChange {
  readonly name?: string | undefined
  /** `failure_share`: more than this share of the runs failed. `latency`: a percentile of `duration` or `wait` is above. `backlog`: more due deliveries, or one that has waited longer. `silence`: no run has succeeded for this time */
  readonly condition?:
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
        readonly deliveries?: number | undefined
        readonly oldest_seconds?: number | undefined
      }
    | {
        readonly type: "silence"
        readonly minutes: number
      }
    | undefined
  /** Time for which the condition must hold before the rule fires */
  readonly for_minutes?: number | undefined
  /** 1 to 5. `webhook`: a signed POST request. `event`: `svc:alert:fired` and `svc:alert:resolved`. `hook`: the callback of the host */
  readonly actions?:
    | ReadonlyArray<
        | {
            readonly type: "webhook"
            readonly url: string
          }
        | {
            readonly type: "event" | "hook"
          }
      >
    | undefined
  /** True by default */
  readonly enabled?: boolean | undefined
}

export interface AlertInput {
  /** 1 to 100 characters */
  readonly name: string
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
        readonly deliveries?: number | undefined
        readonly oldest_seconds?: number | undefined
      }
    | {
        readonly type: "silence"
        readonly minutes: number
      }
  /** Time for which the condition must hold before the rule fires */
  readonly for_minutes?: number | undefined
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
  /** True by default */
  readonly enabled?: boolean | undefined
  /** Id or name of a project; without it, the rule is about the environment */
  readonly project?: string | undefined
  /** Only this function of the project: `ns/var`, or `project:ns/var` without `project` */
  readonly fn?: string | undefined
}

export interface ApiKeyChange {
  readonly enabled?: boolean | undefined
  readonly name?: string | undefined
  /** Permission map; full access by default */
  readonly permissions?: Permissions | undefined
}

export interface ApiKeyInput {
  readonly name?: string | undefined
  /** Permission map; full access by default */
  readonly permissions?: Permissions | undefined
}

export interface BuildRunInput {
  /** A function of the build, `ns/var` */
  readonly fn: string
  /** Arguments; none by default */
  readonly args?: ReadonlyArray<unknown> | undefined
  readonly wait?: number | undefined
}

export interface CallInput {
  /** `ns/var`, or `project:ns/var` to select a project */
  readonly fn: string
  /** Arguments; none by default */
  readonly args?: ReadonlyArray<unknown> | undefined
  readonly wait?: number | undefined
}

export interface CancelInput {
  /** Time in which a durable run may clean up before it ends: `true` for 30 seconds, or a duration of at most 5 minutes. Without it, the run ends at once */
  readonly cleanup?: boolean | string | undefined
}

export interface ContextVariableChange {
  /** At most 65536 bytes as UTF-8 */
  readonly value?: string | undefined
  /** At most 1024 characters */
  readonly description?: string | undefined
}

export interface ContextVariableInput {
  readonly key: string
  /** At most 65536 bytes as UTF-8 */
  readonly value: string
  /** At most 1024 characters */
  readonly description?: string | undefined
}

export interface DeadLetterDiscardInput {
  /** Only the letters with these ids, 1 to 500 */
  readonly ids?: ReadonlyArray<string> | undefined
  /** Only of this project: its id, or its name when the run started */
  readonly project?: string | undefined
  /** Only of this function: `ns/var` or `project:ns/var` */
  readonly fn?: string | undefined
  /** Only of events of this type */
  readonly event_type?: string | undefined
  /** Only letters that are dead since this instant or later */
  readonly since?: string | undefined
  /** Only letters that are dead since before this instant */
  readonly until?: string | undefined
  /** `true` changes nothing, and counts the matching letters */
  readonly dry_run?: boolean | undefined
  /** The field `next` of the former response, with the same filters */
  readonly cursor?: string | undefined
}

export interface DeadLetterRedriveInput {
  /** Only the letters with these ids, 1 to 500 */
  readonly ids?: ReadonlyArray<string> | undefined
  /** Only of this project: its id, or its name when the run started */
  readonly project?: string | undefined
  /** Only of this function: `ns/var` or `project:ns/var` */
  readonly fn?: string | undefined
  /** Only of events of this type */
  readonly event_type?: string | undefined
  /** Only letters that are dead since this instant or later */
  readonly since?: string | undefined
  /** Only letters that are dead since before this instant */
  readonly until?: string | undefined
  /** `true` changes nothing, and counts the matching letters */
  readonly dry_run?: boolean | undefined
  /** The field `next` of the former response, with the same filters */
  readonly cursor?: string | undefined
  /** `same`, the default: the build of the last attempt; `deployed`: the active build of its project */
  readonly build?: "same" | "deployed" | undefined
}

export interface DeployInput {
  /** Makes the build a canary; the deployed one gets the rest */
  readonly canary?:
    | {
        readonly share: number
        /** Expression on the event whose values stay on one side, such as `event.data.customer`; by default, each event and request has its own */
        readonly key?: string | undefined
        /** Time until the rules decide, as a duration or in milliseconds; `10m` by default */
        readonly window?: string | number | undefined
        /** Ended runs of the canary before any rule decides; 20 by default */
        readonly min_runs?: number | undefined
        readonly max_failure_share?: number | undefined
        readonly max_failure_share_over_base?: number | undefined
        readonly max_latency_ratio?: number | undefined
        /** With `auto` (the default), the canary becomes the deployed build at the end of the window */
        readonly promote?: "auto" | "manual" | undefined
      }
    | undefined
  /** Ends an active canary of the project; without it, that is 409 */
  readonly replace?: boolean | undefined
}

export interface DomainInput {
  /** A host name of at least two labels and at most 237 characters; other scripts become A-labels */
  readonly domain: string
}

export interface EnvironmentInput {
  readonly name: string
}

export interface EvaluationInput {
  /** TypeScript or JavaScript: an expression, the body of an async function with `args`, or a module that exports a function as its default */
  readonly source: string
  /** Arguments; none by default */
  readonly args?: ReadonlyArray<unknown> | undefined
  /** Project whose build the source can use as `weft:build`, with its secrets; without it none */
  readonly project?: string | undefined
  /** Build of the project; `deployed` by default */
  readonly build_id?: string | undefined
  readonly timeout?: number | undefined
}

export interface EventInput {
  readonly event_type: string
  readonly event_data: unknown
  /** Stream to append to; by default the event starts a new stream */
  readonly stream_id?: string | undefined
  /** Extension: delay before the event is handled, as `90s`, `PT90S` or milliseconds; at most 365 days */
  readonly delay?: string | number | undefined
  /** Extension: time when the event is handled, instead of `delay` */
  readonly deliver_at?: string | undefined
}

export interface FileLinkInput {
  /** Lifetime in seconds, 1 to 604800; 3600 by default */
  readonly expires_in?: number | undefined
}

export interface MultipartUploadInput {
  /** 1 to 1024 bytes of segments separated by / */
  readonly path: string
  /** Size in bytes; checked against the plan at once, and against the parts at completion */
  readonly expected_size?: number | undefined
  /** application/octet-stream by default */
  readonly content_type?: string | undefined
}

export interface OperationInput {
  readonly kind: "cancel" | "replay" | "redrive"
  /** Selects the runs. A replay needs `status`; a cancellation selects running runs only, a redrive dead letters only, whose `time_range` is the time since when they are dead */
  readonly filter?:
    | {
        readonly status?: "running" | "succeeded" | "failed" | "cancelled" | undefined
        readonly type?: "call" | "event" | "schedule" | "run" | "eval" | "repl" | undefined
        /** Only suspended durable runs that wait for this; `any` for all of them */
        readonly waiting?: "timer" | "event" | "retry" | "token" | "run" | "node" | "any" | undefined
        /** Only of this project: its id, or its name when the runs started */
        readonly project?: string | undefined
        /** Only of this function: `ns/var` or `project:ns/var` */
        readonly fn?: string | undefined
        /** Only runs that this event triggered */
        readonly event_id?: string | undefined
        /** Only runs that events of this type triggered */
        readonly event_type?: string | undefined
        /** Only failed runs with this text in the name or the message of their error, 1 to 200 characters; ASCII case is ignored. A replay then needs the `status` `failed` */
        readonly error?: string | undefined
        /** ISO 8601 duration back from now, such as P7D */
        readonly time_range?: string | undefined
      }
    | undefined
  readonly options?:
    | {
        /** Of a replay or redrive: `same`, the default, is the build of the run; `deployed` the active build of its project */
        readonly build?: "same" | "deployed" | undefined
        /** Maximum runs per second, 1 to 10,000; without it, as many as the node allows */
        readonly rate?: number | undefined
      }
    | undefined
  /** `true` changes nothing, and returns the number of matching runs */
  readonly dry_run?: boolean | undefined
}

export interface OrganizationChange {
  readonly name?: string | undefined
  readonly plan?: "Free" | "Starter" | "Pro" | "Scale" | "Enterprise" | "Self-Host" | undefined
  readonly members?: number | undefined
}

export interface OrganizationInput {
  readonly slug: string
  readonly name?: string | undefined
  readonly plan?: "Free" | "Starter" | "Pro" | "Scale" | "Enterprise" | "Self-Host" | undefined
}

export interface PauseInput {
  /** Id or name of a project; without it, the environment is paused */
  readonly project?: string | undefined
  /** Only this function of the project: `ns/var`, or `project:ns/var` without `project` */
  readonly fn?: string | undefined
  /** Ticks of schedules during the pause: with `late` (the default), the latest fires once at the end; with `skip`, none does */
  readonly schedules?: "late" | "skip" | undefined
}

export interface PreviewExtensionInput {
  /** Time from now until the removal, as a duration from `1m` to `90d` or in milliseconds */
  readonly ttl: string | number
}

export interface PreviewInput {
  /** Build of the project to copy */
  readonly build_id: string
  /** Time from now until the removal, as a duration or in milliseconds; `7d` by default */
  readonly ttl?: string | number | undefined
  /** True if the schedules of the build fire; they are off by default */
  readonly schedules?: boolean | undefined
  /** True if events of the environment that no function published also reach the preview, as copies; off by default */
  readonly copy_events?: boolean | undefined
  /** With `project` (the default), functions also read the secrets of the project; with `own`, only those of the preview */
  readonly secrets?: "project" | "own" | undefined
}

export interface ProjectInput {
  readonly name: string
}

export interface ReplCompletionInput {
  readonly source: string
  /** Position in the source, in UTF-16 units */
  readonly cursor: number
}

export interface ReplInput {
  /** Statements and expressions of TypeScript or JavaScript, with `await` at the top level */
  readonly source: string
  readonly timeout?: number | undefined
}

export interface ReplSessionInput {
  /** Project whose build inputs can use as `build` or `weft:build`, with its secrets; without it none */
  readonly project?: string | undefined
  /** Build of the project; `deployed` by default */
  readonly build_id?: string | undefined
}

export interface ReplayInput {
  readonly event_data?: unknown
}

export interface ServiceKeyInput {
  /** At most 128 characters */
  readonly name?: string | undefined
  /** At most 1024 characters */
  readonly description?: string | undefined
  /** Permission map: a subset of the permissions of the calling API key */
  readonly permissions: Permissions
  readonly metadata?: unknown
  /** Lifetime in seconds, at least 1; without one, the key never expires */
  readonly expires_in?: number | null | undefined
}

export interface SessionInput {
  /** Permission map: a subset of the permissions of the calling API key */
  readonly permissions: Permissions
  readonly metadata?: unknown
  /** Lifetime in seconds, 1 to 86400; 3600 by default */
  readonly expires_in?: number | undefined
}

export interface TokenCompletionInput {
  readonly data?: unknown
}

export interface WatchedEventInput {
  readonly event_type: string
  readonly event_data: unknown
  /** Stream to append to; by default the event starts a new stream */
  readonly stream_id?: string | undefined
}

export interface BuildsCapabilitiesQuery {
  readonly compare?: "deployed" | undefined
}

export interface SchedulesUpcomingQuery extends PageQuery {
  readonly days?: number | undefined
}

export interface FilesListQuery extends PageQuery {
  readonly prefix?: string | undefined
}

export interface LinksOpenQuery {
  readonly env_id?: string | undefined
  readonly expires?: string | undefined
  readonly signature?: string | undefined
}

export interface RunsListQuery extends PageQuery {
  readonly status?: "running" | "succeeded" | "failed" | "cancelled" | undefined
  readonly type?: "call" | "event" | "schedule" | "run" | "eval" | "repl" | undefined
  readonly time_range?: string | undefined
  readonly waiting?: "timer" | "event" | "retry" | "token" | "run" | "node" | "any" | undefined
  readonly project?: string | undefined
  readonly fn?: string | undefined
  readonly error?: string | undefined
  readonly preview?: string | undefined
  readonly before?: string | undefined
  readonly include?: "usage" | undefined
}

export interface RunsActivityQuery {
  readonly time_range?: string | undefined
}

export interface RunsSeriesQuery {
  readonly project?: string | undefined
  readonly fn?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly step?: string | undefined
}

export interface RunsCancelAllQuery {
  readonly type?: "call" | "event" | "schedule" | "run" | "eval" | "repl" | undefined
  readonly time_range?: string | undefined
  readonly event_id?: string | undefined
}

export interface RunsReplayQuery {
  readonly build?: "same" | "deployed" | undefined
  readonly from?: string | undefined
}

export interface RecordingsListQuery extends PageQuery {
  readonly project?: string | undefined
  readonly fn?: string | undefined
  readonly time_range?: string | undefined
}

export interface DeliveriesListQuery extends PageQuery {
  readonly project?: string | undefined
  readonly fn?: string | undefined
  readonly event_type?: string | undefined
}

export interface DeliveriesCancelQuery {
  readonly project?: string | undefined
  readonly fn?: string | undefined
  readonly event_type?: string | undefined
  readonly dry_run?: "true" | undefined
}

export interface DeadLettersListQuery extends PageQuery {
  readonly project?: string | undefined
  readonly fn?: string | undefined
  readonly event_type?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
}

export interface OperationsListQuery extends PageQuery {
  readonly state?: "pending" | "running" | "succeeded" | "cancelled" | "failed" | undefined
}

export interface StreamsSubscribeQuery {
  readonly project?: string | undefined
}

export interface AuditListQuery extends PageQuery {
  readonly action?:
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
    | undefined
  readonly outcome?: "done" | "refused" | undefined
  readonly actor_id?: string | undefined
  readonly object_id?: string | undefined
  readonly time_range?: string | undefined
}

export interface AdminListAuditQuery extends PageQuery {
  readonly action?:
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
    | undefined
  readonly outcome?: "done" | "refused" | undefined
  readonly actor_id?: string | undefined
  readonly object_id?: string | undefined
  readonly time_range?: string | undefined
  readonly env_id?: string | undefined
}
