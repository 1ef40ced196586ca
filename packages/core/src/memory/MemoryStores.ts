/**
 * All stores in memory, for examples, tests and hosts that need no persistence.
 *
 * Each store is the executable specification of its interface. It is small enough to be reviewed, and the contract
 * compares the other adapters with it.
 */
import { Layer } from "effect"
import type { BlobStore } from "../platform/blobs/BlobStore.ts"
import type { ClusterBus } from "../platform/cluster/ClusterBus.ts"
import type { SealedStore } from "../platform/encryption/SealedStore.ts"
import type { AuditStore } from "../resources/audit/AuditStore.ts"
import type { BuildStore } from "../resources/builds/BuildStore.ts"
import type { CanaryStore } from "../resources/builds/CanaryStore.ts"
import type { DomainStore } from "../resources/domains/DomainStore.ts"
import type { FileStore } from "../resources/files/FileStore.ts"
import type { ScrubStore } from "../resources/files/ScrubStore.ts"
import type { PreviewStore } from "../resources/previews/PreviewStore.ts"
import type { ProjectStore } from "../resources/projects/ProjectStore.ts"
import type { ScheduleStore } from "../resources/schedules/ScheduleStore.ts"
import type { ContextVariableStore } from "../resources/secrets/ContextVariableStore.ts"
import type { EventStore } from "../runtime/events/EventStore.ts"
import type { JournalStore } from "../runtime/journal/JournalStore.ts"
import type { AdmissionStore } from "../runtime/runs/AdmissionStore.ts"
import type { AlertStore } from "../runtime/runs/AlertStore.ts"
import type { DeadLetterStore } from "../runtime/runs/DeadLetterStore.ts"
import type { DeliveryStore } from "../runtime/runs/DeliveryStore.ts"
import type { OperationStore } from "../runtime/runs/OperationStore.ts"
import type { PauseStore } from "../runtime/runs/PauseStore.ts"
import type { RecordingStore } from "../runtime/runs/RecordingStore.ts"
import type { RunControlStore } from "../runtime/runs/RunControlStore.ts"
import type { RunStore } from "../runtime/runs/RunStore.ts"
import type { SeriesStore } from "../runtime/runs/SeriesStore.ts"
import type { TickStore } from "../runtime/runs/TickStore.ts"
import type { WorkflowStore } from "../runtime/runs/WorkflowStore.ts"
import type { WorkflowTokenStore } from "../runtime/runs/WorkflowTokenStore.ts"
import type { StreamStore } from "../runtime/streams/StreamStore.ts"
import type { ApiKeyStore } from "../tenants/access/ApiKeyStore.ts"
import type { ServiceKeyStore } from "../tenants/access/ServiceKeyStore.ts"
import type { SessionStore } from "../tenants/access/SessionStore.ts"
import type { RateStore } from "../tenants/orgs/RateStore.ts"
import type { TenantStore } from "../tenants/orgs/TenantStore.ts"
import type { UsageStore } from "../tenants/orgs/UsageStore.ts"
import * as AdmissionStoreMemory from "./AdmissionStoreMemory.ts"
import * as AlertStoreMemory from "./AlertStoreMemory.ts"
import * as ApiKeyStoreMemory from "./ApiKeyStoreMemory.ts"
import * as AuditStoreMemory from "./AuditStoreMemory.ts"
import * as BlobStoreMemory from "./BlobStoreMemory.ts"
import * as BuildStoreMemory from "./BuildStoreMemory.ts"
import * as CanaryStoreMemory from "./CanaryStoreMemory.ts"
import * as ClusterBusMemory from "./ClusterBusMemory.ts"
import * as ContextVariableStoreMemory from "./ContextVariableStoreMemory.ts"
import * as DeadLetterStoreMemory from "./DeadLetterStoreMemory.ts"
import * as DeliveryStoreMemory from "./DeliveryStoreMemory.ts"
import * as DomainStoreMemory from "./DomainStoreMemory.ts"
import * as EventStoreMemory from "./EventStoreMemory.ts"
import * as FileStoreMemory from "./FileStoreMemory.ts"
import * as JournalStoreMemory from "./JournalStoreMemory.ts"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import * as OperationStoreMemory from "./OperationStoreMemory.ts"
import * as PauseStoreMemory from "./PauseStoreMemory.ts"
import * as PreviewStoreMemory from "./PreviewStoreMemory.ts"
import * as ProjectStoreMemory from "./ProjectStoreMemory.ts"
import * as RateStoreMemory from "./RateStoreMemory.ts"
import * as RecordingStoreMemory from "./RecordingStoreMemory.ts"
import * as RunControlStoreMemory from "./RunControlStoreMemory.ts"
import * as RunStoreMemory from "./RunStoreMemory.ts"
import * as ScheduleStoreMemory from "./ScheduleStoreMemory.ts"
import * as ScrubStoreMemory from "./ScrubStoreMemory.ts"
import * as SealedStoreMemory from "./SealedStoreMemory.ts"
import * as SeriesStoreMemory from "./SeriesStoreMemory.ts"
import * as ServiceKeyStoreMemory from "./ServiceKeyStoreMemory.ts"
import * as SessionStoreMemory from "./SessionStoreMemory.ts"
import * as StreamStoreMemory from "./StreamStoreMemory.ts"
import * as TenantStoreMemory from "./TenantStoreMemory.ts"
import * as TickStoreMemory from "./TickStoreMemory.ts"
import * as UsageStoreMemory from "./UsageStoreMemory.ts"
import * as WorkflowStoreMemory from "./WorkflowStoreMemory.ts"
import * as WorkflowTokenStoreMemory from "./WorkflowTokenStoreMemory.ts"

/** The stores of one database, without blobs and cluster bus. */
export type DatabaseStores =
  | ApiKeyStore
  | SessionStore
  | ServiceKeyStore
  | AuditStore
  | TenantStore
  | ProjectStore
  | PreviewStore
  | ContextVariableStore
  | SealedStore
  | FileStore
  | ScrubStore
  | BuildStore
  | CanaryStore
  | ScheduleStore
  | TickStore
  | WorkflowStore
  | WorkflowTokenStore
  | EventStore
  | DeliveryStore
  | DeadLetterStore
  | PauseStore
  | OperationStore
  | SeriesStore
  | AlertStore
  | RecordingStore
  | RunStore
  | RunControlStore
  | JournalStore
  | StreamStore
  | AdmissionStore
  | UsageStore
  | RateStore
  | DomainStore

const databaseStores: Layer.Layer<DatabaseStores> = Layer.mergeAll(
  ApiKeyStoreMemory.layer,
  SessionStoreMemory.layer,
  ServiceKeyStoreMemory.layer,
  AuditStoreMemory.layer,
  TenantStoreMemory.layer,
  ProjectStoreMemory.layer,
  PreviewStoreMemory.layer,
  ContextVariableStoreMemory.layer,
  SealedStoreMemory.layer,
  FileStoreMemory.layer,
  ScrubStoreMemory.layer,
  BuildStoreMemory.layer,
  Layer.provide(CanaryStoreMemory.layer, BuildStoreMemory.layer),
  ScheduleStoreMemory.layer,
  TickStoreMemory.layer,
  EventStoreMemory.layer,
  DeliveryStoreMemory.layer,
  DeadLetterStoreMemory.layer,
  PauseStoreMemory.layer,
  OperationStoreMemory.layer,
  SeriesStoreMemory.layer,
  AlertStoreMemory.layer,
  RecordingStoreMemory.layer,
  RunStoreMemory.layer,
  RunControlStoreMemory.layer,
  JournalStoreMemory.layer,
  StreamStoreMemory.layer,
  AdmissionStoreMemory.layer,
  UsageStoreMemory.layer,
  RateStoreMemory.layer,
  DomainStoreMemory.layer,
  WorkflowStoreMemory.layer,
  WorkflowTokenStoreMemory.layer
).pipe(Layer.provide(MemoryDatabase.layer))

export const MemoryStores: {
  /** All stores on one empty database, with blobs and cluster bus. */
  readonly layer: Layer.Layer<DatabaseStores | BlobStore | ClusterBus>
  /** As `layer`, without blobs and cluster bus. */
  readonly database: Layer.Layer<DatabaseStores>
  readonly blobs: Layer.Layer<BlobStore>
  readonly cluster: Layer.Layer<ClusterBus>
  /** For databases with a single process. */
  readonly rates: Layer.Layer<RateStore>
} = {
  layer: Layer.mergeAll(databaseStores, BlobStoreMemory.layer, ClusterBusMemory.layer),
  database: databaseStores,
  blobs: BlobStoreMemory.layer,
  cluster: ClusterBusMemory.layer,
  rates: RateStoreMemory.layer
}
