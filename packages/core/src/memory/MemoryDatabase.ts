/**
 * The rows of the in-memory stores.
 *
 * Rows are plain maps by primary key, so each store consists only of its filters and its order.
 */
import { Context, Layer } from "effect"
import type {
  AlertId,
  ApiKeyId,
  AuditId,
  BuildId,
  CanaryId,
  DeliveryId,
  DomainId,
  EnvId,
  EventId,
  FileId,
  NodeId,
  OperationId,
  OrgId,
  PauseId,
  ProjectId,
  RunId,
  ScheduleId,
  ServiceKeyId,
  SessionId,
  UploadId
} from "../foundation/Ids.ts"
import { countOfPage, type Page, type PageRequest } from "../foundation/Page.ts"
import type { Timestamp } from "../foundation/time/Timestamp.ts"
import { utf8Length } from "../foundation/Utf8.ts"
import type { AuditEntry } from "../resources/audit/AuditEntry.ts"
import type { Build } from "../resources/builds/Build.ts"
import type { Canary } from "../resources/builds/Canary.ts"
import type { CanaryCounts } from "../resources/builds/CanaryCounts.ts"
import type { Manifest } from "../resources/builds/Manifest.ts"
import type { Domain } from "../resources/domains/Domain.ts"
import type { DomainCertificate } from "../resources/domains/DomainCertificate.ts"
import type { File } from "../resources/files/File.ts"
import type { MultipartUpload, UploadedPart } from "../resources/files/MultipartUpload.ts"
import type { Preview } from "../resources/previews/Preview.ts"
import type { Project } from "../resources/projects/Project.ts"
import type { RemovedProject } from "../resources/projects/RemovedProject.ts"
import type { Schedule } from "../resources/schedules/Schedule.ts"
import type { ContextVariable } from "../resources/secrets/ContextVariable.ts"
import type { Event } from "../runtime/events/Event.ts"
import type { Alert } from "../runtime/runs/Alert.ts"
import type { Delivery } from "../runtime/runs/Delivery.ts"
import type { StoredFlowState } from "../runtime/runs/FlowRules.ts"
import type { MinuteCounts } from "../runtime/runs/MinuteCounts.ts"
import type { StoredOperation } from "../runtime/runs/Operation.ts"
import type { Pause } from "../runtime/runs/Pause.ts"
import type { StoredRecording } from "../runtime/runs/Recording.ts"
import type { LogEntry, Run } from "../runtime/runs/Run.ts"
import type { History } from "../runtime/runs/Workflow.ts"
import type { WorkflowToken } from "../runtime/runs/WorkflowToken.ts"
import type { ApiKey } from "../tenants/access/ApiKey.ts"
import type { ServiceKey } from "../tenants/access/ServiceKey.ts"
import type { Session } from "../tenants/access/Session.ts"
import type { Env, Org } from "../tenants/orgs/Tenant.ts"
import type { TenantHookJob } from "../tenants/orgs/TenantHookJob.ts"

export interface DeliveryRow {
  readonly delivery: Delivery
  /** The run that holds the delivery, as a fencing token; null while the delivery is pending. */
  readonly run_id: RunId | null
  /** Since when its group, its throttle or a pause holds it; absent if none does. */
  readonly held_since?: Timestamp
}

export interface UploadRow {
  readonly upload: MultipartUpload
  /** By number. */
  readonly parts: Map<number, UploadedPart>
}

export class MemoryDatabase extends Context.Service<
  MemoryDatabase,
  {
    readonly apiKeys: Map<ApiKeyId, ApiKey>
    readonly sessions: Map<SessionId, Session>
    readonly serviceKeys: Map<ServiceKeyId, ServiceKey>
    readonly audit: Map<AuditId, AuditEntry>
    readonly orgs: Map<OrgId, Org>
    readonly envs: Map<EnvId, Env>
    /** By tenant id. */
    readonly hookJobs: Map<string, TenantHookJob>
    readonly projects: Map<ProjectId, Project>
    readonly removedProjects: Map<ProjectId, RemovedProject>
    /** By their environments. `removed_at` is null until they are removed. */
    readonly previews: Map<
      EnvId,
      { readonly preview: Preview; readonly removed_at: Timestamp | null; readonly due_at: Timestamp }
    >
    /** By `<project_id>/<key>`. */
    readonly contextVariables: Map<string, ContextVariable>
    readonly files: Map<FileId, File>
    readonly uploads: Map<UploadId, UploadRow>
    /** Reservations of uncommitted blobs by key: their expiry, and whether the janitor has taken them for removal. */
    readonly uncommittedBlobs: Map<string, { readonly until: Timestamp; readonly taken: boolean }>
    readonly builds: Map<BuildId, Build>
    /** Deployed builds, by project. */
    readonly deployments: Map<ProjectId, { readonly build_id: BuildId; readonly manifest: Manifest }>
    /** Live builds, by project. */
    readonly liveBuilds: Map<ProjectId, { readonly build_id: BuildId; readonly manifest: Manifest }>
    readonly schedules: Map<ScheduleId, Schedule>
    readonly domains: Map<DomainId, Domain>
    readonly certificates: Map<DomainId, DomainCertificate>
    readonly events: Map<EventId, Event>
    readonly deliveries: Map<DeliveryId, DeliveryRow>
    readonly runs: Map<RunId, Run>
    readonly logs: Map<RunId, ReadonlyArray<LogEntry>>
    readonly recordings: Map<RunId, StoredRecording>
    /** Since when the last attempts of failed deliveries are dead letters. */
    readonly deadLetters: Map<RunId, Timestamp>
    /** Of durable runs. */
    readonly histories: Map<RunId, History>
    /** Ends of requested cleanups. */
    readonly cleanups: Map<RunId, Timestamp>
    /** Of durable runs, by `formatTokenId`. */
    readonly tokens: Map<string, WorkflowToken>
    /** Used idempotency keys, by `<env_id> <key>`. */
    readonly once: Map<string, { readonly expires_at: Timestamp; readonly event_id: EventId; readonly digest: string }>
    /** States of the rules of flow control, by `<env_id> <key>`. */
    readonly flowStates: Map<string, StoredFlowState>
    readonly pauses: Map<PauseId, Pause>
    /** Latest canaries, by project. */
    readonly canaries: Map<ProjectId, { readonly canary: Canary; readonly manifest: Manifest }>
    /** Counts of canaries, by node. */
    readonly canaryCounts: Map<CanaryId, Map<NodeId, CanaryCounts>>
    /** Operations, with the ends of their leases and their idempotency keys. */
    readonly operations: Map<
      OperationId,
      { readonly operation: StoredOperation; readonly until: Timestamp; readonly key: string | null }
    >
    readonly alerts: Map<AlertId, Alert>
    /** By environment and key. */
    readonly series: Map<string, MinuteCounts>
    /** Removed and counted runs, for the count of the current month. */
    readonly removedRuns: Array<Pick<Run, "env_id" | "start_time">>
    /** Number of the latest batch of run counts, by node. */
    readonly countBatches: Map<NodeId, number>
    /** Expiry of each node's lease. */
    readonly leases: Map<NodeId, Timestamp>
  }
>()("@weft/core/memory/MemoryDatabase") {
  /** Makes an empty database for each build of the layer. */
  static readonly layer: Layer.Layer<MemoryDatabase> = Layer.sync(MemoryDatabase, () =>
    MemoryDatabase.of({
      apiKeys: new Map(),
      sessions: new Map(),
      serviceKeys: new Map(),
      audit: new Map(),
      orgs: new Map(),
      envs: new Map(),
      hookJobs: new Map(),
      projects: new Map(),
      removedProjects: new Map(),
      previews: new Map(),
      contextVariables: new Map(),
      files: new Map(),
      uploads: new Map(),
      uncommittedBlobs: new Map(),
      builds: new Map(),
      deployments: new Map(),
      liveBuilds: new Map(),
      schedules: new Map(),
      domains: new Map(),
      certificates: new Map(),
      events: new Map(),
      deliveries: new Map(),
      runs: new Map(),
      logs: new Map(),
      recordings: new Map(),
      deadLetters: new Map(),
      histories: new Map(),
      cleanups: new Map(),
      tokens: new Map(),
      once: new Map(),
      flowStates: new Map(),
      pauses: new Map(),
      canaries: new Map(),
      canaryCounts: new Map(),
      operations: new Map(),
      alerts: new Map(),
      series: new Map(),
      removedRuns: [],
      countBatches: new Map(),
      leases: new Map()
    })
  )
}

/** Returns the requested page of `items` with the total count. */
export const toPage = <A>(items: ReadonlyArray<A>, request: PageRequest): Page<A> => ({
  items: items.slice(request.offset, request.offset + request.limit),
  total: items.length
})

/** As `toPage`, but within the size of a page. */
export const toBoundedPage = <A>(
  items: ReadonlyArray<A>,
  request: PageRequest,
  readText: (item: A) => string | null
): Page<A> => {
  const page = toPage(items, request)
  const count = countOfPage(page.items.map((item) => utf8Length(readText(item) ?? "")))
  return { ...page, items: page.items.slice(0, count) }
}

/** Compares text by code unit. For ids this is the order of every database. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
