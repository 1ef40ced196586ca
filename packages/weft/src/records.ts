/** Records as hosts see them: camelCase fields, plain strings for ids, `Date` for instants, JSON as values. */
/** A value that JSON can hold. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** A permission map: resources such as `"project:*"` to actions such as `"read"`. */
export type Permissions = Readonly<Record<string, ReadonlyArray<string>>>

/** A part of a list. */
export interface PageOptions {
  /** Maximum items, 1 to 100; 20 by default. */
  readonly limit?: number
  /** Items to skip; 0 by default. */
  readonly offset?: number
}

export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** Number of items in all pages. */
  readonly total: number
}

export interface Org {
  readonly id: string
  /** 1 to 63 lowercase letters, digits and hyphens; part of webhook URLs. */
  readonly slug: string
  readonly name: string
  readonly plan: string
  /** Number of people that the host counts as members. */
  readonly members: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface Env {
  readonly id: string
  readonly orgId: string
  /** Unique in its organization; part of webhook URLs. */
  readonly name: string
  readonly active: boolean
  readonly createdAt: Date
}

export interface ApiKey {
  readonly id: string
  readonly envId: string
  readonly name: string
  readonly enabled: boolean
  readonly permissions: Permissions
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface Session {
  readonly id: string
  readonly permissions: Permissions
  readonly metadata: Json
  readonly expiresAt: Date
  readonly createdAt: Date
}

export interface ServiceKey {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly permissions: Permissions
  readonly metadata: Json
  readonly active: boolean
  /** Null: never expires. */
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  readonly createdAt: Date
}

export interface Project {
  readonly id: string
  readonly name: string
  readonly active: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface Build {
  readonly id: string
  readonly projectId: string
  readonly projectName: string
  /** SHA-256 of the zip, lowercase hex. */
  readonly hash: string
  /** Size of the zip in bytes. */
  readonly size: number
  readonly type: "bundle" | "live"
  readonly deployed: boolean
  readonly active: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A secret of a project without its value. */
export interface Secret {
  readonly key: string
  readonly description: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface StoredFile {
  readonly id: string
  /** Unique in the environment. */
  readonly path: string
  /** Size in bytes. */
  readonly size: number
  /** A quoted strong entity tag (RFC 9110). */
  readonly etag: string
  readonly contentType: string
  readonly createdByRunId: string | null
  readonly updatedByRunId: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface Domain {
  readonly id: string
  readonly domain: string
  readonly status: "pending_validation" | "validated" | "provisioning" | "active" | "deleting"
  /** The CNAME record that proves control of the domain. */
  readonly validationCname: { readonly name: string; readonly value: string }
  /** Target of the domain's own CNAME record; null until validated. */
  readonly routingDomain: string | null
  readonly createdAt: Date
}

export interface Schedule {
  readonly id: string
  readonly projectId: string
  readonly kind: "static" | "dynamic"
  /** The function that it calls. */
  readonly ns: string
  readonly var: string
  /** Null: it fires once. */
  readonly cron: string | null
  readonly timezone: string
  readonly nextAt: Date
  readonly createdAt: Date
}

/** A pause of a function, a project or the environment. */
export interface Pause {
  readonly id: string
  /** Null for a pause of the environment. */
  readonly projectId: string | null
  readonly projectName: string | null
  /** The function; null for a pause of a project or the environment. */
  readonly ns: string | null
  readonly var: string | null
  /** Ticks of schedules during the pause: the latest fires at its end, or none does. */
  readonly schedules: "late" | "skip"
  readonly pausedAt: Date
  /** Type and id of the credential that paused. */
  readonly pausedBy: string
}

/** A pause, and the runs of its functions that have not ended. */
export interface PauseState extends Pause {
  readonly runs: {
    readonly executing: number
    /** Suspended durable runs. */
    readonly suspended: number
  }
}

export interface Event {
  readonly id: string
  readonly streamId: string
  readonly type: string
  readonly data: Json
  /** Instant at which it takes effect; later than `createdAt` if it was delayed. */
  readonly time: Date
  readonly createdAt: Date
}

export interface Run {
  readonly id: string
  readonly streamId: string
  readonly projectId: string
  readonly projectName: string
  readonly buildId: string
  /** The function that runs. */
  readonly ns: string
  readonly var: string
  readonly type: "call" | "event" | "schedule" | "run" | "eval" | "repl"
  readonly status: "running" | "succeeded" | "failed" | "cancelled"
  readonly startTime: Date
  readonly stopTime: Date | null
  /** The first attempt's run. On a first attempt: the run that caused this one, if any. */
  readonly originRunId: string | null
  readonly eventId: string | null
  /** Counts from 1; a run that was lost with its node does not count. */
  readonly attempt: number
  /** Null while running. */
  readonly result: Json
  readonly cpuMs: number | null
  readonly wallMs: number | null
  readonly heapBytes: number | null
  /** Times that a durable run entered an isolate, from 1; null for other runs. */
  readonly activations: number | null
  /** The wait of a suspended durable run; null while it is active, and after its end. */
  readonly waiting: Waiting | null
  /** Number of recorded results of a durable run; null for other runs. */
  readonly steps: number | null
}

/** A recorded result of a durable run. */
export interface RunStep {
  /** Position in the order in which the function received its results, from 0. */
  readonly position: number
  /** Position of the request in the order of requests, from 0. */
  readonly seq: number
  /** Such as `step`, `sleep` or `event`. */
  readonly kind: string
  readonly name: string
  readonly ok: boolean
  /** Null without a result, and if it is a secret. If `ok` is false, the error as `{name, message, stack}`. */
  readonly result: Json
  readonly attempts: number
  readonly startedAt: Date
  readonly endedAt: Date
}

/** A request of a durable run that has not ended. */
export interface RunWait {
  readonly seq: number
  readonly kind: string
  readonly name: string
  /** Type of the awaited event; null for other kinds. */
  readonly eventType: string | null
  /** For `run`: the event that starts the child run; null for other kinds. */
  readonly childEventId: string | null
  /** Failed attempts at a step so far. */
  readonly attempts: number
  readonly since: Date
  readonly until: Date | null
}

/** A page of steps, and what the run waits for. */
export interface RunSteps extends Page<RunStep> {
  /** At most 100. */
  readonly waits: ReadonlyArray<RunWait>
}

export interface Waiting {
  /** `retry`: the next attempt at a step. `node`: the run continues after a fault outside of its code. */
  readonly for: "timer" | "event" | "retry" | "token" | "run" | "node"
  /** Name of the sleep, wait, token or step. */
  readonly name: string
  readonly since: Date
  readonly until: Date | null
}

/** A completed token of a durable run, without its data. */
export interface CompletedToken {
  readonly id: string
  readonly runId: string
  readonly name: string
  readonly completedAt: Date
}

export interface RunStats {
  readonly total: number
  readonly running: number
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
}

export interface LogEntry {
  /** Counts from 0, in the order of logging. */
  readonly seq: number
  readonly time: Date
  readonly level: "debug" | "info" | "warn" | "error"
  readonly message: string
  readonly data: Json
}

export type AuditAction =
  | "api_key.create"
  | "api_key.update"
  | "api_key.remove"
  | "alert.create"
  | "alert.update"
  | "alert.remove"
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
  | "deliveries.cancel"
  | "dead_letters.redrive"
  | "dead_letters.discard"
  | "pause.create"
  | "pause.end"
  | "operation.create"
  | "operation.cancel"
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

export interface AuditEntry {
  readonly id: string
  /** Null for actions that belong to no environment. */
  readonly envId: string | null
  readonly action: AuditAction
  readonly outcome: "done" | "refused"
  /** Refusals of one kind within 1 s are one entry. */
  readonly count: number
  readonly actorType: string
  readonly actorId: string | null
  readonly objectId: string | null
  readonly objectName: string | null
  readonly details: Json
  readonly requestId: string | null
  readonly address: string | null
  readonly createdAt: Date
}

/** Use of the organization's plan. A limit of -1 is unlimited. */
export interface Usage {
  readonly orgId: string
  readonly plan: { readonly name: string; readonly periodStart: Date; readonly periodEnd: Date }
  readonly runs: UsageOf
  readonly fileStorageBytes: UsageOf
  readonly teamMembers: UsageOf
  readonly callStorageBytes: UsageOf
  /** True if any use exceeds 90 % of its limit. */
  readonly hasWarning: boolean
}

export interface UsageOf {
  readonly used: number
  readonly limit: number
  /** To a hundredth; 0 without a limit, more than 100 where it is exceeded. */
  readonly percent: number
}

/** A message of an environment's live activity. */
export type ActivityEvent =
  | ({ readonly type: "run:start" } & ActivityOfRun)
  | ({ readonly type: "run:stop" | "run:fail" | "run:cancel"; readonly result: Json } & ActivityOfRun)
  | ({ readonly type: "stream:data"; readonly dataType: string; readonly payload: Json } & ActivityOfRun)
  | ({
      readonly type: "run:step"
      readonly position: number
      readonly kind: string
      readonly name: string
      readonly ok: boolean
      readonly attempts: number
      /** Milliseconds from the start of the request to its result. */
      readonly ms: number
    } & ActivityOfRun)
  | ({ readonly type: "run:waiting"; readonly waiting: Waiting } & ActivityOfRun)
  | {
      readonly type: "event:created" | "event:handled"
      readonly eventId: string
      readonly streamId: string
      readonly eventType: string
    }
  | { readonly type: "stream:created"; readonly streamId: string }

export interface ActivityOfRun {
  readonly runId: string
  readonly streamId: string
  readonly runType: string
  readonly projectId: string
  readonly projectName: string
}
