/**
 * The one boundary between the runtime's records and those of hosts.
 *
 * The runtime, its stores and the HTTP API use snake_case, instants as epoch milliseconds and JSON as text.
 */

import type {
  Env as EnvRow,
  HostAuditEntry,
  HostEvent,
  HostRun,
  HostServiceKey,
  HostSession,
  HostSteps,
  Org as OrgRow,
  OrgUsage,
  WeftEnv
} from "@weft/core"
import { type ActivityEvent as ActivityRow, parseWaiting } from "@weft/core/adapter"
import type { DeadLetter } from "./deadLetterRecords.ts"
import type { Operation } from "./operationRecords.ts"
import type {
  ActivityEvent,
  ActivityOfRun,
  ApiKey,
  AuditEntry,
  Build,
  CompletedToken,
  Domain,
  Env,
  Event,
  Json,
  LogEntry,
  Org,
  Page,
  Pause,
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

type Listed<F extends (...args: never) => Promise<unknown>> =
  Awaited<ReturnType<F>> extends {
    readonly items: ReadonlyArray<infer A>
  }
    ? A
    : never

type ProjectRow = Listed<WeftEnv["projects"]["list"]>
type BuildRow = Listed<WeftEnv["builds"]["list"]>
type SecretRow = Listed<WeftEnv["context"]["list"]>
type FileRow = Listed<WeftEnv["files"]["list"]>
type DomainRow = Listed<WeftEnv["domains"]["list"]>
type ScheduleRow = Listed<WeftEnv["schedules"]["list"]>
type DeadLetterRow = Listed<WeftEnv["deadLetters"]["list"]>
type OperationRow = Listed<WeftEnv["operations"]["list"]>
type PauseRow = Listed<WeftEnv["pauses"]["list"]>
type LogRow = Listed<WeftEnv["runs"]["logs"]>
type StatsRow = Awaited<ReturnType<WeftEnv["runs"]["stats"]>>
type CompletedTokenRow = Awaited<ReturnType<WeftEnv["runs"]["completeToken"]>>
interface ApiKeyRow {
  readonly api_key_id: string
  readonly env_id: string
  readonly name: string
  readonly enabled: boolean
  readonly permissions: Permissions
  readonly created_at: number
  readonly updated_at: number
}

const toDate = (millis: number): Date => new Date(millis)
const toDateOrNull = (millis: number | null): Date | null => (millis === null ? null : new Date(millis))
const parseJson = (text: string | null): Json => (text === null ? null : JSON.parse(text))

export const toPage =
  <A, B>(convert: (row: A) => B) =>
  ({ items, total }: Page<A>): Page<B> => ({ items: items.map(convert), total })

export const toOrg = (row: OrgRow): Org => ({
  id: row.org_id,
  slug: row.slug,
  name: row.name,
  plan: row.plan,
  members: row.members,
  createdAt: toDate(row.created_at),
  updatedAt: toDate(row.updated_at)
})

export const toEnv = (row: EnvRow): Env => ({
  id: row.env_id,
  orgId: row.org_id,
  name: row.name,
  active: row.active,
  createdAt: toDate(row.created_at),
  ...(row.preview === undefined ? {} : { preview: { name: row.preview.name, parentEnvId: row.preview.parent_env_id } })
})

export const toApiKey = (row: ApiKeyRow): ApiKey => ({
  id: row.api_key_id,
  envId: row.env_id,
  name: row.name,
  enabled: row.enabled,
  permissions: row.permissions,
  createdAt: toDate(row.created_at),
  updatedAt: toDate(row.updated_at)
})

export const toSession = (row: HostSession): Session => ({
  id: row.session_id,
  permissions: row.permissions,
  metadata: row.metadata,
  expiresAt: toDate(row.expires_at),
  createdAt: toDate(row.created_at)
})

export const toServiceKey = (row: HostServiceKey): ServiceKey => ({
  id: row.service_key_id,
  name: row.name,
  description: row.description,
  permissions: row.permissions,
  metadata: row.metadata,
  active: row.active,
  expiresAt: toDateOrNull(row.expires_at),
  revokedAt: toDateOrNull(row.revoked_at),
  createdAt: toDate(row.created_at)
})

export const toProject = (row: ProjectRow): Project => ({
  id: row.project_id,
  name: row.name,
  active: row.active,
  createdAt: toDate(row.created_at),
  updatedAt: toDate(row.updated_at)
})

export const toBuild = (row: BuildRow): Build => ({
  id: row.build_id,
  projectId: row.project_id,
  projectName: row.project_name,
  hash: row.hash,
  size: row.size,
  type: row.build_type,
  deployed: row.deployed,
  active: row.active,
  createdAt: toDate(row.created_at),
  updatedAt: toDate(row.updated_at)
})

export const toSecret = (row: SecretRow): Secret => ({
  key: row.key,
  description: row.description,
  createdAt: toDate(row.created_at),
  updatedAt: toDate(row.updated_at)
})

export const toFile = (row: FileRow): StoredFile => ({
  id: row.file_id,
  path: row.path,
  size: row.size,
  etag: row.etag,
  contentType: row.content_type,
  createdByRunId: row.created_by_run_id,
  updatedByRunId: row.updated_by_run_id,
  createdAt: toDate(row.created_at),
  updatedAt: toDate(row.updated_at)
})

export const toDomain = (row: DomainRow): Domain => ({
  id: row.domain_id,
  domain: row.domain,
  status: row.status,
  validationCname: { name: row.validation_cname_name, value: row.validation_cname_value },
  routingDomain: row.routing_domain,
  createdAt: toDate(row.created_at)
})

export const toSchedule = (row: ScheduleRow): Schedule => ({
  id: row.schedule_id,
  projectId: row.project_id,
  kind: row.kind,
  ns: row.ns,
  var: row.var,
  cron: row.cron,
  timezone: row.timezone,
  nextAt: toDate(row.next_at),
  createdAt: toDate(row.created_at)
})

export const toDeadLetter = (row: DeadLetterRow): DeadLetter => ({
  runId: row.run_id,
  eventId: row.event_id,
  eventType: row.event_type,
  streamId: row.stream_id,
  projectId: row.project_id,
  projectName: row.project_name,
  buildId: row.build_id,
  ns: row.ns,
  var: row.var,
  type: row.run_type,
  status: row.status,
  attempt: row.attempt,
  startedAt: toDate(row.start_time),
  deadSince: toDate(row.dead_since),
  error: row.error
})

export const toPause = (row: PauseRow): Pause => ({
  id: row.pause_id,
  projectId: row.project_id,
  projectName: row.project_name,
  ns: row.ns,
  var: row.var,
  schedules: row.schedules,
  pausedAt: toDate(row.paused_at),
  pausedBy: row.paused_by
})

export const toOperation = (row: OperationRow): Operation => ({
  id: row.operation_id,
  kind: row.kind,
  state: row.state,
  total: row.total,
  done: row.done,
  skipped: row.skipped,
  failed: row.failed,
  failures: row.failures.map(({ run_id, reason }) => ({ runId: run_id, reason })),
  waiting: row.waiting,
  error: row.error,
  createdAt: toDate(row.created_at),
  createdBy: row.created_by,
  startedAt: row.started_at === null ? null : toDate(row.started_at),
  endedAt: row.ended_at === null ? null : toDate(row.ended_at)
})

export const toEvent = (row: HostEvent): Event => ({
  id: row.event_id,
  streamId: row.stream_id,
  type: row.event_type,
  data: row.event_data,
  time: toDate(row.event_time),
  createdAt: toDate(row.created_at)
})

export const toRun = (row: HostRun): Run => ({
  id: row.run_id,
  streamId: row.stream_id,
  projectId: row.project_id,
  projectName: row.project_name,
  buildId: row.build_id,
  ns: row.ns,
  var: row.var,
  type: row.run_type,
  status: row.status,
  startTime: toDate(row.start_time),
  stopTime: toDateOrNull(row.stop_time),
  originRunId: row.origin_run_id,
  eventId: row.event_id,
  eventIds: row.event_ids,
  attempt: row.attempt,
  result: row.result,
  cpuMs: row.cpu_ms,
  wallMs: row.wall_ms,
  heapBytes: row.heap_bytes,
  activations: row.activations,
  waiting: row.waiting === null ? null : toWaiting(row.waiting),
  steps: row.steps
})

const toWaiting = ({ since, until, ...waiting }: NonNullable<HostRun["waiting"]>): Waiting => ({
  ...waiting,
  since: toDate(since),
  until: toDateOrNull(until)
})

export const toRunSteps = ({ items, total, waits }: HostSteps): RunSteps => ({
  items: items.map(({ started_at, ended_at, ...step }) => ({
    ...step,
    startedAt: toDate(started_at),
    endedAt: toDate(ended_at)
  })),
  total,
  waits: waits.map(({ event_type, child_event_id, since, until, ...wait }) => ({
    ...wait,
    eventType: event_type,
    childEventId: child_event_id,
    since: toDate(since),
    until: toDateOrNull(until)
  }))
})

export const toCompletedToken = (row: CompletedTokenRow): CompletedToken => ({
  id: row.token_id,
  runId: row.run_id,
  name: row.name,
  completedAt: toDate(row.completed_at)
})

export const toRunStats = (row: StatsRow): RunStats => ({
  total: row.total_runs,
  running: row.running,
  succeeded: row.succeeded,
  failed: row.failed,
  cancelled: row.cancelled
})

export const toLogEntry = (row: LogRow): LogEntry => ({
  seq: row.seq,
  time: toDate(row.time),
  level: row.level,
  message: row.message,
  data: parseJson(row.data)
})

export const toAuditEntry = (row: HostAuditEntry): AuditEntry => ({
  id: row.audit_id,
  envId: row.env_id,
  action: row.action,
  outcome: row.outcome,
  count: row.count,
  actorType: row.actor_type,
  actorId: row.actor_id,
  objectId: row.object_id,
  objectName: row.object_name,
  details: row.details,
  requestId: row.request_id,
  address: row.address,
  createdAt: toDate(row.created_at)
})

export const toUsage = ({ org_id, usage, limits, usage_percent, plan }: OrgUsage): Usage => ({
  orgId: org_id,
  plan: { name: plan.name, periodStart: toDate(plan.period_start), periodEnd: toDate(plan.period_end) },
  runs: { used: usage.runs_this_period, limit: limits.runs_per_month, percent: usage_percent.runs },
  fileStorageBytes: {
    used: usage.file_storage_bytes,
    limit: limits.storage_bytes,
    percent: usage_percent.file_storage
  },
  teamMembers: { used: usage.team_members, limit: limits.team_members, percent: usage_percent.team_members },
  callStorageBytes: {
    used: usage.call_storage_bytes,
    limit: limits.call_storage_bytes,
    percent: usage_percent.call_storage
  },
  hasWarning: usage_percent.has_warning
})

export const toActivity = (row: ActivityRow): ActivityEvent => {
  switch (row.type) {
    case "stream:created":
      return { type: row.type, streamId: row.stream_id }
    case "event:created":
    case "event:handled":
      return { type: row.type, eventId: row.event_id, streamId: row.stream_id, eventType: row.event_type }
    case "run:start":
      return { type: row.type, ...toActivityOfRun(row) }
    case "run:step": {
      const { type, position, kind, name, ok, attempts, ms } = row
      return { type, ...toActivityOfRun(row), position, kind, name, ok, attempts, ms }
    }
    case "run:waiting":
      return { type: row.type, ...toActivityOfRun(row), waiting: toWaiting(parseWaiting(row.waiting)) }
    case "stream:data":
      return { type: row.type, ...toActivityOfRun(row), dataType: row.data_type, payload: parseJson(row.payload) }
    default:
      return { type: row.type, ...toActivityOfRun(row), result: parseJson(row.result) }
  }
}

const toActivityOfRun = (row: Extract<ActivityRow, { readonly run_id: string }>): ActivityOfRun => ({
  runId: row.run_id,
  streamId: row.stream_id,
  runType: row.run_type,
  projectId: row.project_id,
  projectName: row.project_name
})
