/**
 * The rows that the in-memory stores share.
 *
 * Plain maps by primary key, so that each store is its filter and its order and nothing else.
 */
import { Context, Effect, Layer } from "effect"
import type { ApiKey } from "../access/ApiKey.ts"
import type { ServiceKey } from "../access/ServiceKey.ts"
import type { Session } from "../access/Session.ts"
import type { AuditEntry } from "../audit/AuditEntry.ts"
import type { Build } from "../builds/Build.ts"
import type { Manifest } from "../builds/Manifest.ts"
import type { Domain } from "../domains/Domain.ts"
import type { DomainCertificate } from "../domains/DomainCertificate.ts"
import type { PageTooLarge } from "../errors/Errors.ts"
import type { Event } from "../events/Event.ts"
import type { File } from "../files/File.ts"
import type { MultipartUpload, UploadedPart } from "../files/MultipartUpload.ts"
import type {
  ApiKeyId,
  AuditId,
  BuildId,
  DeliveryId,
  DomainId,
  EnvId,
  EventId,
  FileId,
  NodeId,
  OrgId,
  ProjectId,
  RunId,
  ScheduleId,
  ServiceKeyId,
  SessionId,
  UploadId
} from "../ids/Ids.ts"
import { checkPageBytes, type Page, type PageRequest } from "../ids/Page.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { Project } from "../projects/Project.ts"
import type { Delivery } from "../runs/Delivery.ts"
import type { LogEntry, Run } from "../runs/Run.ts"
import type { Schedule } from "../schedules/Schedule.ts"
import type { ContextVariable } from "../secrets/ContextVariable.ts"
import type { Announcement } from "../tenancy/Announcement.ts"
import type { Env, Org } from "../tenancy/Tenant.ts"

export interface DeliveryRow {
  readonly delivery: Delivery
  /** The fence: the run that holds the delivery, or null while it waits. */
  readonly run_id: RunId | null
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
    /** By the id of the tenant. */
    readonly announcements: Map<string, Announcement>
    readonly projects: Map<ProjectId, Project>
    /** By `<project_id>/<key>`. */
    readonly contextVariables: Map<string, ContextVariable>
    readonly files: Map<FileId, File>
    readonly uploads: Map<UploadId, UploadRow>
    /** Notes of loose keys: until when, and whether the janitor took them. */
    readonly looseBytes: Map<string, { readonly until: Timestamp; readonly taken: boolean }>
    readonly builds: Map<BuildId, Build>
    /** What is deployed, by project. */
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
    /** Keys that are taken, by `<env_id> <key>`. */
    readonly once: Map<string, { readonly expires_at: Timestamp; readonly event_id: EventId; readonly digest: string }>
    /** What is left of runs that were removed. */
    readonly removedRuns: Array<Pick<Run, "env_id" | "start_time">>
    /** Until when each node counts as alive. */
    readonly leases: Map<NodeId, Timestamp>
  }
>()("@weft/core/memory/MemoryDatabase") {
  /** An empty database of its own for each build of the layer. */
  static readonly layer: Layer.Layer<MemoryDatabase> = Layer.sync(MemoryDatabase, () =>
    MemoryDatabase.of({
      apiKeys: new Map(),
      sessions: new Map(),
      serviceKeys: new Map(),
      audit: new Map(),
      orgs: new Map(),
      envs: new Map(),
      announcements: new Map(),
      projects: new Map(),
      contextVariables: new Map(),
      files: new Map(),
      uploads: new Map(),
      looseBytes: new Map(),
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
      once: new Map(),
      removedRuns: [],
      leases: new Map()
    })
  )
}

/** The part of `items` that `request` asks for, and how many there are in all. */
export const pageOf = <A>(items: ReadonlyArray<A>, request: PageRequest): Page<A> => ({
  items: items.slice(request.offset, request.offset + request.limit),
  total: items.length
})

/** As `pageOf`, if the items are not too large together. Characters instead of bytes: near enough here. */
export const boundedPageOf = <A>(
  items: ReadonlyArray<A>,
  request: PageRequest,
  textOf: (item: A) => string | null
): Effect.Effect<Page<A>, PageTooLarge> => {
  const page = pageOf(items, request)
  return Effect.as(checkPageBytes(page.items.reduce((sum, item) => sum + (textOf(item)?.length ?? 0), 0)), page)
}

/** Compares text by code unit, which for ids is the order of every database. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
