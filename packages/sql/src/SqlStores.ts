/** All stores of one database. */
import type {
  AdmissionStore,
  ApiKeyStore,
  AuditStore,
  BuildStore,
  ContextVariableStore,
  DomainStore,
  EventStore,
  FileStore,
  JournalStore,
  ProjectStore,
  RateStore,
  RunControlStore,
  RunStore,
  ScheduleStore,
  SealedStore,
  ServiceKeyStore,
  SessionStore,
  StreamStore,
  TenantStore,
  TickStore,
  UsageStore
} from "@weft/core"
import { Layer } from "effect"
import * as AdmissionStoreSql from "./AdmissionStoreSql.ts"
import * as ApiKeyStoreSql from "./ApiKeyStoreSql.ts"
import * as AuditStoreSql from "./AuditStoreSql.ts"
import * as BuildStoreSql from "./BuildStoreSql.ts"
import * as ContextVariableStoreSql from "./ContextVariableStoreSql.ts"
import type { Database } from "./Database.ts"
import * as DomainStoreSql from "./DomainStoreSql.ts"
import * as EventStoreSql from "./EventStoreSql.ts"
import * as FileStoreSql from "./FileStoreSql.ts"
import * as JournalStoreSql from "./JournalStoreSql.ts"
import * as ProjectStoreSql from "./ProjectStoreSql.ts"
import * as RateStoreSql from "./RateStoreSql.ts"
import * as RunControlStoreSql from "./RunControlStoreSql.ts"
import * as RunStoreSql from "./RunStoreSql.ts"
import * as ScheduleStoreSql from "./ScheduleStoreSql.ts"
import * as SealedStoreSql from "./SealedStoreSql.ts"
import * as ServiceKeyStoreSql from "./ServiceKeyStoreSql.ts"
import * as SessionStoreSql from "./SessionStoreSql.ts"
import * as StreamStoreSql from "./StreamStoreSql.ts"
import * as TenantStoreSql from "./TenantStoreSql.ts"
import * as TickStoreSql from "./TickStoreSql.ts"
import * as UsageStoreSql from "./UsageStoreSql.ts"

/** What running writes, for a thread of its own. Needs a database that is up to date. */
export const journalStore: Layer.Layer<JournalStore | AdmissionStore | RunControlStore | TickStore, never, Database> =
  Layer.mergeAll(JournalStoreSql.layer, AdmissionStoreSql.layer, RunControlStoreSql.layer, TickStoreSql.layer)

/** The rates of organizations, for a database that nodes share. Who has the database alone counts in memory. */
export const rateStore: Layer.Layer<RateStore, never, Database> = RateStoreSql.layer

/** Every store but the journal and rates. Needs a database that is up to date. */
export const recordStores: Layer.Layer<
  | ApiKeyStore
  | SessionStore
  | ServiceKeyStore
  | AuditStore
  | TenantStore
  | ProjectStore
  | ContextVariableStore
  | SealedStore
  | FileStore
  | BuildStore
  | ScheduleStore
  | EventStore
  | RunStore
  | StreamStore
  | UsageStore
  | DomainStore,
  never,
  Database
> = Layer.mergeAll(
  ApiKeyStoreSql.layer,
  SessionStoreSql.layer,
  ServiceKeyStoreSql.layer,
  AuditStoreSql.layer,
  TenantStoreSql.layer,
  ProjectStoreSql.layer,
  ContextVariableStoreSql.layer,
  SealedStoreSql.layer,
  FileStoreSql.layer,
  BuildStoreSql.layer,
  ScheduleStoreSql.layer,
  EventStoreSql.layer,
  RunStoreSql.layer,
  StreamStoreSql.layer,
  UsageStoreSql.layer,
  DomainStoreSql.layer
)
