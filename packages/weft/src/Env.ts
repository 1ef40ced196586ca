/** The face of one environment. */

import type { Alert, AlertTest, AlertWithSecret, NewAlert } from "./alerts.ts"
import type { Canary, DeployOptions } from "./canary.ts"
import type { ComparedBuild } from "./capabilities.ts"
import type { DeadLetter, DeadLetterPass } from "./deadLetterRecords.ts"
import type { Evaluated, EvaluateOptions } from "./evaluate.ts"
import type { NewOperation, Operation } from "./operationRecords.ts"
import type { ProjectPreviews } from "./previews.ts"
import type {
  ActivityEvent,
  AuditEntry,
  Build,
  CompletedToken,
  Domain,
  Event,
  Json,
  LogEntry,
  Page,
  PageOptions,
  Pause,
  PauseState,
  Permissions,
  Project,
  Run,
  RunStats,
  RunSteps,
  Schedule,
  Secret,
  ServiceKey,
  Session,
  StoredFile,
  Usage,
  Waiting
} from "./records.ts"
import type { RunSeries, SeriesQuery } from "./series.ts"

/** An event to publish. */
export interface NewEvent {
  /** Free-form, 1 to 256 characters, `a:b:c` by convention. The prefix `svc:` is reserved. */
  readonly type: string
  readonly data: Json
  /** Appends to this stream. Without it the event begins a new stream. */
  readonly streamId?: string
  /** Delays the event: a duration such as `"90s"`, or milliseconds; at most 365 days. */
  readonly delay?: string | number
  /** Delays the event until an instant, at most 365 days ahead. Excludes `delay`. */
  readonly deliverAt?: Date
  /** 1 to 255 visible ASCII characters. Within 24 hours, the same request publishes once and returns the same event. */
  readonly idempotencyKey?: string
  /** The parent span, as W3C Trace Context. */
  readonly traceparent?: string
}

/** A function to call by its name. */
export interface NewCall {
  /** `ns/var`, or `project:ns/var`. */
  readonly fn: string
  readonly args?: ReadonlyArray<Json>
  /** Maximum time to wait for the end of the run, 0 to 300; 0 by default. */
  readonly waitSeconds?: number
  readonly idempotencyKey?: string
  readonly traceparent?: string
}

/** The stored event of a call, and its run, or null if none has started yet. */
export interface Called {
  readonly event: Event
  readonly run: Run | null
}

export interface NewBuild {
  readonly zip: Uint8Array
  /** SHA-256 of the zip, hex. */
  readonly hash: string
  /** A UUID that makes a repeated upload safe; a new one by default. */
  readonly buildId?: string
  /** `live` makes it the project's live build; `bundle` by default. */
  readonly type?: "bundle" | "live"
}

export interface RunQuery {
  readonly status?: Run["status"]
  readonly type?: Run["type"]
  /** Only suspended runs that wait for this; `any` for all suspended runs. */
  readonly waiting?: Waiting["for"] | "any"
  /** Only runs that started within this time before now, in milliseconds. */
  readonly withinMs?: number
  /** Id of a project, or its name when the run started. */
  readonly project?: string
  /** A function: `ns/var`, or `project:ns/var`. */
  readonly fn?: string
  /** Only failed runs with this text in the name or the message of their error, 1 to 200 characters; ASCII case is ignored. */
  readonly error?: string
  /** Id of a run: only runs that are older. */
  readonly before?: string
}

/** Selects pending deliveries; all of them without any field. */
export interface DeliveryQuery {
  /** Id of a project, or its name when the event was published. */
  readonly project?: string
  /** A function: `ns/var`, or `project:ns/var`. */
  readonly fn?: string
  readonly eventType?: string
}

/** Selects dead letters; all of them without any field. */
export interface DeadLetterQuery extends DeliveryQuery {
  /** Only letters that are dead since this instant or later. */
  readonly since?: Date
  /** Only letters that are dead since before this instant. */
  readonly until?: Date
}

/** Selects dead letters by their ids or by a query. */
export interface DeadLetterSelection extends DeadLetterQuery {
  /** Ids of the runs of the last attempts, 1 to 500. */
  readonly ids?: ReadonlyArray<string>
  /** `next` of the former call, with the same fields. */
  readonly cursor?: string
}

/** A function, a project, or without both the environment. */
export interface NewPause {
  /** Id or name of a project. */
  readonly project?: string
  /** `ns/var` with `project`, or `project:ns/var`. */
  readonly fn?: string
  /** `late` by default. */
  readonly schedules?: Pause["schedules"]
}

/** Selects running runs; without a field, all of them. */
export interface CancelQuery {
  readonly type?: Run["type"]
  readonly withinMs?: number
  readonly eventId?: string
}

export interface AuditQuery {
  readonly action?: AuditEntry["action"]
  readonly outcome?: AuditEntry["outcome"]
  /** The credential that acted. */
  readonly actorId?: string
  /** The record that the action changed. */
  readonly objectId?: string
  readonly withinMs?: number
}

export interface NewSession {
  /** A permission map, a subset of the API key's. */
  readonly permissions: Permissions
  /** At most 64 KiB as JSON text; null by default. */
  readonly metadata?: Json
  /** 1 to 86,400 seconds; 3,600 by default. */
  readonly expiresInSeconds?: number
}

export interface NewServiceKey {
  /** At most 128 characters; empty by default. */
  readonly name?: string
  /** At most 1,024 characters; empty by default. */
  readonly description?: string
  readonly permissions: Permissions
  readonly metadata?: Json
  /** Seconds; null, the default, means that the key never expires. */
  readonly expiresInSeconds?: number | null
}

export interface EnvHandle {
  /** The id of the environment. */
  readonly id: string
  readonly projects: {
    readonly list: (page?: PageOptions) => Promise<Page<Project>>
    readonly create: (input: { readonly name: string }) => Promise<Project>
    readonly get: (idOrName: string) => Promise<Project>
    readonly update: (idOrName: string, input: { readonly name: string }) => Promise<Project>
    readonly remove: (idOrName: string) => Promise<void>
  }
  readonly builds: {
    /** `existed` is true if the project already had this very build; then nothing was stored. */
    readonly upload: (project: string, build: NewBuild) => Promise<{ readonly build: Build; readonly existed: boolean }>
    readonly list: (page?: PageOptions) => Promise<Page<Build>>
    readonly get: (project: string, buildId: string) => Promise<Build>
    /** With `canary`, the build gets a share of the events and calls of the project, and the deployed build the rest. */
    readonly deploy: (project: string, buildId: string, options?: DeployOptions) => Promise<Build>
    /** Returns what a build uses and declares, and the difference to the deployed build. */
    readonly capabilities: (project: string, buildId: string) => Promise<ComparedBuild>
    /** Returns the live build of the project. */
    readonly live: (project: string) => Promise<Build>
    readonly endLive: (project: string) => Promise<void>
    /** Lifts the quarantine of a build that repeatedly ended its runner process. */
    readonly release: (project: string, buildId: string) => Promise<void>
  }
  /** The latest canary of a project, active or ended. `builds.deploy` starts one. */
  readonly canaries: {
    readonly get: (project: string) => Promise<Canary>
    /** Makes the active canary the deployed build, whatever its rules say. */
    readonly promote: (project: string) => Promise<Canary>
    /** Ends the active canary: the deployed build gets all events and calls, and the retries of the canary. */
    readonly rollback: (project: string) => Promise<Canary>
  }
  /** Isolated copies of projects with their own triggers, which are removed after their time. */
  readonly previews: ProjectPreviews
  /** Secrets of projects. Values can be written but never read. */
  readonly secrets: {
    readonly list: (project: string, page?: PageOptions) => Promise<Page<Secret>>
    readonly create: (
      project: string,
      input: { readonly key: string; readonly value: string; readonly description?: string }
    ) => Promise<Secret>
    readonly update: (
      project: string,
      key: string,
      change: { readonly value?: string; readonly description?: string }
    ) => Promise<Secret>
    readonly remove: (project: string, key: string) => Promise<void>
  }
  readonly files: {
    /** Sorted by path. */
    readonly list: (page?: PageOptions, prefix?: string) => Promise<Page<StoredFile>>
    readonly get: (fileId: string) => Promise<StoredFile>
    /**
     * Stores the bytes at the path and replaces an existing file. The content type is `application/octet-stream` by
     * default. Rejects with the error of the iteration, if any; then nothing is stored.
     */
    readonly upload: (
      path: string,
      bytes: Uint8Array | AsyncIterable<Uint8Array>,
      options?: { readonly contentType?: string }
    ) => Promise<StoredFile>
    /** Streams the bytes with back-pressure. Ending the iteration cancels the download. */
    readonly download: (fileId: string) => AsyncIterable<Uint8Array>
    readonly remove: (fileId: string) => Promise<void>
  }
  readonly domains: {
    readonly list: (page?: PageOptions) => Promise<Page<Domain>>
    readonly add: (input: { readonly domain: string }) => Promise<Domain>
    readonly get: (domainId: string) => Promise<Domain>
    /** Checks the domain now; waits for the result up to 15 s. */
    readonly verify: (domainId: string) => Promise<{ readonly domain: Domain; readonly message: string }>
    readonly remove: (domainId: string) => Promise<void>
  }
  readonly audit: {
    /** Newest first. */
    readonly list: (query?: AuditQuery, page?: PageOptions) => Promise<Page<AuditEntry>>
  }
  /** Short-lived tokens under an API key of the environment. The host acts as that key. */
  readonly sessions: {
    /** The token is returned only here. */
    readonly create: (
      apiKeyId: string,
      input: NewSession
    ) => Promise<{ readonly session: Session; readonly token: string }>
    /** Active sessions, newest first. */
    readonly list: (apiKeyId: string, page?: PageOptions) => Promise<Page<Session>>
    readonly revoke: (apiKeyId: string, sessionId: string) => Promise<void>
    /** Returns how many sessions were active. */
    readonly revokeAll: (apiKeyId: string) => Promise<number>
  }
  /** Long-lived tokens under an API key of the environment. */
  readonly serviceKeys: {
    /** The token is returned only here. */
    readonly create: (
      apiKeyId: string,
      input: NewServiceKey
    ) => Promise<{ readonly key: ServiceKey; readonly token: string }>
    /** Newest first, with revoked and expired keys. */
    readonly list: (apiKeyId: string, page?: PageOptions) => Promise<Page<ServiceKey>>
    readonly get: (apiKeyId: string, keyId: string) => Promise<ServiceKey>
    readonly revoke: (apiKeyId: string, keyId: string) => Promise<void>
    /** Returns how many keys were active. */
    readonly revokeAll: (apiKeyId: string) => Promise<number>
  }
  readonly events: {
    /** Durable when it resolves. */
    readonly publish: (event: NewEvent) => Promise<Event>
    /** Publishes up to 1,000 events at lower cost per event; in order. */
    readonly publishMany: (events: ReadonlyArray<NewEvent>) => Promise<ReadonlyArray<Event>>
    readonly list: (page?: PageOptions) => Promise<Page<Event>>
    readonly get: (eventId: string) => Promise<Event>
    /** Returns all runs that the event caused. */
    readonly runs: (eventId: string) => Promise<ReadonlyArray<Run>>
  }
  readonly runs: {
    /** Newest first. */
    readonly list: (query?: RunQuery, page?: PageOptions) => Promise<Page<Run>>
    readonly get: (runId: string) => Promise<Run>
    readonly stats: () => Promise<RunStats>
    /**
     * Counts the ended runs of each function by step, with the percentiles of their waits and durations. Counts are at most
     * 10 s old, and are kept for 30 days.
     */
    readonly series: (query?: SeriesQuery) => Promise<RunSeries>
    /** Returns the log of a run; of a running run, the log so far. */
    readonly logs: (runId: string, page?: PageOptions) => Promise<Page<LogEntry>>
    /** Returns the recorded results of a durable run in their order, and its open waits. */
    readonly steps: (runId: string, page?: PageOptions) => Promise<RunSteps>
    /** Ends the sleep or the retry pause of a suspended durable run. Rejects if the run does not sleep. */
    readonly wake: (runId: string) => Promise<Run>
    /**
     * Cancels a running run. Rejects if it has ended. With `cleanup`, a durable run may clean up first: `true` for 30 seconds,
     * or a duration of at most 5 minutes. It stays `running` until then.
     */
    readonly cancel: (runId: string, options?: { readonly cleanup?: boolean | string }) => Promise<Run>
    /** Cancels the running runs that the query selects; returns how many. */
    readonly cancelAll: (query?: CancelQuery) => Promise<number>
    /**
     * Completes the token of a durable run with this name, of several the last one. `data` is null by default. Rejects with
     * `token_completed` or `token_expired` if it is too late.
     */
    readonly completeToken: (runId: string, name: string, data?: Json) => Promise<CompletedToken>
    /**
     * Runs a function again for the same event, in the same build by default. With `from`, a durable run is repeated from its
     * first step or wait with this name, or from that position. With `data`, the new run has an event of its own, with these
     * data; the stored event stays as it is.
     */
    readonly replay: (runId: string, build?: "same" | "deployed", from?: string, data?: Json) => Promise<Called>
  }
  /** Events that wait for the runs of their handlers. */
  readonly deliveries: {
    /** Cancels the pending deliveries that the query selects; returns how many. Running runs continue. */
    readonly cancel: (query?: DeliveryQuery) => Promise<number>
  }
  /** Deliveries whose last attempt failed, or that expired before their start. */
  readonly deadLetters: {
    /** Latest first. */
    readonly list: (query?: DeadLetterQuery, page?: PageOptions) => Promise<Page<DeadLetter>>
    /**
     * Starts at most 500 of the selected letters again, the oldest first, in the same build by default. Each letter starts once,
     * also if several callers redrive it. Letters without a function are skipped, with the reason.
     */
    readonly redrive: (
      selection?: DeadLetterSelection & { readonly build?: "same" | "deployed" }
    ) => Promise<DeadLetterPass>
    /** Removes at most 500 of the selected letters from the list. Their runs stay. */
    readonly discard: (selection?: DeadLetterSelection) => Promise<DeadLetterPass>
  }
  /** Pauses: deliveries are kept, and runs that have begun continue. */
  readonly pauses: {
    /** Pauses a function, a project, or without both the environment. If it is paused already, changes `schedules`. */
    readonly create: (pause?: NewPause) => Promise<Pause>
    /** Newest first. */
    readonly list: (page?: PageOptions) => Promise<Page<Pause>>
    readonly get: (pauseId: string) => Promise<PauseState>
    /** Ends the pause: the kept deliveries start. */
    readonly remove: (pauseId: string) => Promise<void>
  }
  /** Cancellations and replays of many runs, in the background. */
  readonly operations: {
    /** Begins to cancel or replay the runs that the filter selects and that began before now. */
    readonly create: (operation: NewOperation) => Promise<Operation>
    /** Returns the number of runs that the operation would select now. */
    readonly preview: (operation: NewOperation) => Promise<number>
    /** Newest first. */
    readonly list: (query?: { readonly state?: Operation["state"] }, page?: PageOptions) => Promise<Page<Operation>>
    readonly get: (operationId: string) => Promise<Operation>
    /** Ends the operation; its effects stay. Rejects if it has ended. */
    readonly cancel: (operationId: string) => Promise<Operation>
  }
  /** Rules about failures, latencies, backlogs and silence. */
  readonly alerts: {
    /** Newest first. */
    readonly list: (page?: PageOptions) => Promise<Page<Alert>>
    readonly get: (alertId: string) => Promise<Alert>
    readonly create: (alert: NewAlert) => Promise<AlertWithSecret>
    /** Its state is `ok` again if its condition changes, or if it is enabled or disabled. Its scope stays. */
    readonly update: (alertId: string, change: Partial<Omit<NewAlert, "project" | "fn">>) => Promise<AlertWithSecret>
    readonly remove: (alertId: string) => Promise<void>
    /** Performs the actions of a rule now, with a notification of the type `alert.test`. */
    readonly test: (alertId: string) => Promise<AlertTest>
  }
  /** Dynamic schedules. Publish `svc:schedule:new` to create one. */
  readonly schedules: {
    readonly list: (page?: PageOptions) => Promise<Page<Schedule>>
    readonly remove: (scheduleId: string) => Promise<void>
  }
  /** Calls a function by name. With `waitSeconds`, resolves when the run has ended. */
  readonly call: (call: NewCall) => Promise<Called>
  /**
   * Runs source text in an isolate: a formula, a template, or code that a model wrote. Resolves also if the code fails, and
   * rejects for a syntax error. The code may do nothing but what `capabilities` lists.
   */
  readonly evaluate: (source: string, options?: EvaluateOptions) => Promise<Evaluated>
  /** Use of the organization's plan, summed over its environments. */
  readonly usage: () => Promise<Usage>
  readonly streams: {
    /**
     * Live activity of one stream, from the first `next()` until the iteration ends or Weft is closed. Rejects with
     * `not_found` for an empty stream, and with an error if the iteration is 1,000 messages behind.
     */
    readonly watch: (streamId: string) => AsyncIterable<ActivityEvent>
  }
  /** Live activity of the environment, from the first `next()` until the iteration ends. */
  readonly activity: () => AsyncIterable<ActivityEvent>
}
