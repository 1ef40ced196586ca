/** All stores of one database. */
import type {
  AdmissionStore,
  AlertStore,
  ApiKeyStore,
  AuditStore,
  BuildStore,
  CanaryStore,
  ContextVariableStore,
  DeadLetterStore,
  DeliveryStore,
  DomainStore,
  EventStore,
  FileStore,
  JournalStore,
  OperationStore,
  PauseStore,
  PreviewStore,
  ProjectStore,
  RateStore,
  RecordingStore,
  RunControlStore,
  RunStore,
  ScheduleStore,
  ScrubStore,
  SealedStore,
  SeriesStore,
  ServiceKeyStore,
  SessionStore,
  StreamStore,
  TenantStore,
  TickStore,
  UsageStore,
  WorkflowStore,
  WorkflowTokenStore
} from "@weft/core/adapter"
import { Layer } from "effect"
import * as AdmissionStoreSql from "./AdmissionStoreSql.ts"
import * as AlertStoreSql from "./AlertStoreSql.ts"
import * as ApiKeyStoreSql from "./ApiKeyStoreSql.ts"
import * as AuditStoreSql from "./AuditStoreSql.ts"
import * as BuildStoreSql from "./BuildStoreSql.ts"
import * as CanaryStoreSql from "./CanaryStoreSql.ts"
import * as ContextVariableStoreSql from "./ContextVariableStoreSql.ts"
import type { Database } from "./Database.ts"
import * as DeadLetterStoreSql from "./DeadLetterStoreSql.ts"
import * as DeliveryStoreSql from "./DeliveryStoreSql.ts"
import * as DomainStoreSql from "./DomainStoreSql.ts"
import * as EventStoreSql from "./EventStoreSql.ts"
import * as FileStoreSql from "./FileStoreSql.ts"
import * as JournalStoreSql from "./JournalStoreSql.ts"
import * as OperationStoreSql from "./OperationStoreSql.ts"
import * as PauseStoreSql from "./PauseStoreSql.ts"
import * as PreviewStoreSql from "./PreviewStoreSql.ts"
import * as ProjectStoreSql from "./ProjectStoreSql.ts"
import * as RateStoreSql from "./RateStoreSql.ts"
import * as RecordingStoreSql from "./RecordingStoreSql.ts"
import * as RunControlStoreSql from "./RunControlStoreSql.ts"
import * as RunStoreSql from "./RunStoreSql.ts"
import * as ScheduleStoreSql from "./ScheduleStoreSql.ts"
import * as ScrubStoreSql from "./ScrubStoreSql.ts"
import * as SealedStoreSql from "./SealedStoreSql.ts"
import * as SeriesStoreSql from "./SeriesStoreSql.ts"
import * as ServiceKeyStoreSql from "./ServiceKeyStoreSql.ts"
import * as SessionStoreSql from "./SessionStoreSql.ts"
import * as StreamStoreSql from "./StreamStoreSql.ts"
import * as TenantStoreSql from "./TenantStoreSql.ts"
import * as TickStoreSql from "./TickStoreSql.ts"
import * as UsageStoreSql from "./UsageStoreSql.ts"
import * as WorkflowStoreSql from "./WorkflowStoreSql.ts"
import * as WorkflowTokenStoreSql from "./WorkflowTokenStoreSql.ts"

/** The stores that running functions write to; on SQLite they have their own thread. Needs a migrated database. */
export const journalStore: Layer.Layer<
  JournalStore | AdmissionStore | RunControlStore | TickStore | WorkflowStore,
  never,
  Database
> = Layer.mergeAll(
  JournalStoreSql.layer,
  AdmissionStoreSql.layer,
  RunControlStoreSql.layer,
  TickStoreSql.layer,
  WorkflowStoreSql.layer
)

/** Rate limits of organizations, for a database that nodes share. A single node counts in memory instead. */
export const rateStore: Layer.Layer<RateStore, never, Database> = RateStoreSql.layer

/** Every store except the journal and rates. Needs a migrated database. */
export const recordStores: Layer.Layer<
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
  | EventStore
  | DeliveryStore
  | DeadLetterStore
  | PauseStore
  | OperationStore
  | SeriesStore
  | AlertStore
  | RecordingStore
  | RunStore
  | StreamStore
  | UsageStore
  | DomainStore
  | WorkflowTokenStore,
  never,
  Database
> = Layer.mergeAll(
  ApiKeyStoreSql.layer,
  SessionStoreSql.layer,
  ServiceKeyStoreSql.layer,
  AuditStoreSql.layer,
  TenantStoreSql.layer,
  ProjectStoreSql.layer,
  PreviewStoreSql.layer,
  ContextVariableStoreSql.layer,
  SealedStoreSql.layer,
  FileStoreSql.layer,
  ScrubStoreSql.layer,
  BuildStoreSql.layer,
  CanaryStoreSql.layer,
  ScheduleStoreSql.layer,
  EventStoreSql.layer,
  DeliveryStoreSql.layer,
  DeadLetterStoreSql.layer,
  PauseStoreSql.layer,
  OperationStoreSql.layer,
  SeriesStoreSql.layer,
  AlertStoreSql.layer,
  RecordingStoreSql.layer,
  RunStoreSql.layer,
  StreamStoreSql.layer,
  UsageStoreSql.layer,
  DomainStoreSql.layer,
  WorkflowTokenStoreSql.layer
)
