/**
 * All stores in memory, for examples, tests and hosts that need nothing to last.
 *
 * Each is the executable specification of its interface: small enough to be checked by eye, and the model that
 * the contract compares the other adapters with.
 */
import { Layer } from "effect"
import type { ApiKeyStore } from "../access/ApiKeyStore.ts"
import type { ServiceKeyStore } from "../access/ServiceKeyStore.ts"
import type { SessionStore } from "../access/SessionStore.ts"
import type { Feed } from "../activity/Feed.ts"
import type { AuditStore } from "../audit/AuditStore.ts"
import type { BlobStore } from "../blobs/BlobStore.ts"
import type { BuildStore } from "../builds/BuildStore.ts"
import type { DomainStore } from "../domains/DomainStore.ts"
import type { SealedStore } from "../encryption/SealedStore.ts"
import type { EventStore } from "../events/EventStore.ts"
import type { FileStore } from "../files/FileStore.ts"
import type { JournalStore } from "../journal/JournalStore.ts"
import type { ProjectStore } from "../projects/ProjectStore.ts"
import type { AdmissionStore } from "../runs/AdmissionStore.ts"
import type { RunControlStore } from "../runs/RunControlStore.ts"
import type { RunStore } from "../runs/RunStore.ts"
import type { TickStore } from "../runs/TickStore.ts"
import type { ScheduleStore } from "../schedules/ScheduleStore.ts"
import type { ContextVariableStore } from "../secrets/ContextVariableStore.ts"
import type { StreamStore } from "../streams/StreamStore.ts"
import type { RateStore } from "../tenancy/RateStore.ts"
import type { TenantStore } from "../tenancy/TenantStore.ts"
import type { UsageStore } from "../tenancy/UsageStore.ts"
import * as AdmissionStoreMemory from "./AdmissionStoreMemory.ts"
import * as ApiKeyStoreMemory from "./ApiKeyStoreMemory.ts"
import * as AuditStoreMemory from "./AuditStoreMemory.ts"
import * as BlobStoreMemory from "./BlobStoreMemory.ts"
import * as BuildStoreMemory from "./BuildStoreMemory.ts"
import * as ContextVariableStoreMemory from "./ContextVariableStoreMemory.ts"
import * as DomainStoreMemory from "./DomainStoreMemory.ts"
import * as EventStoreMemory from "./EventStoreMemory.ts"
import * as FeedMemory from "./FeedMemory.ts"
import * as FileStoreMemory from "./FileStoreMemory.ts"
import * as JournalStoreMemory from "./JournalStoreMemory.ts"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import * as ProjectStoreMemory from "./ProjectStoreMemory.ts"
import * as RateStoreMemory from "./RateStoreMemory.ts"
import * as RunControlStoreMemory from "./RunControlStoreMemory.ts"
import * as RunStoreMemory from "./RunStoreMemory.ts"
import * as ScheduleStoreMemory from "./ScheduleStoreMemory.ts"
import * as SealedStoreMemory from "./SealedStoreMemory.ts"
import * as ServiceKeyStoreMemory from "./ServiceKeyStoreMemory.ts"
import * as SessionStoreMemory from "./SessionStoreMemory.ts"
import * as StreamStoreMemory from "./StreamStoreMemory.ts"
import * as TenantStoreMemory from "./TenantStoreMemory.ts"
import * as TickStoreMemory from "./TickStoreMemory.ts"
import * as UsageStoreMemory from "./UsageStoreMemory.ts"

/** The stores of one database, without blobs and feed. */
export type DatabaseStores =
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
  | TickStore
  | EventStore
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
  ContextVariableStoreMemory.layer,
  SealedStoreMemory.layer,
  FileStoreMemory.layer,
  BuildStoreMemory.layer,
  ScheduleStoreMemory.layer,
  TickStoreMemory.layer,
  EventStoreMemory.layer,
  RunStoreMemory.layer,
  RunControlStoreMemory.layer,
  JournalStoreMemory.layer,
  StreamStoreMemory.layer,
  AdmissionStoreMemory.layer,
  UsageStoreMemory.layer,
  RateStoreMemory.layer,
  DomainStoreMemory.layer
).pipe(Layer.provide(MemoryDatabase.layer))

export const MemoryStores: {
  /** Every store on one fresh database, with blobs and feed. */
  readonly layer: Layer.Layer<DatabaseStores | BlobStore | Feed>
  /** As `layer`, but for a host that keeps blobs and feed elsewhere. */
  readonly database: Layer.Layer<DatabaseStores>
  readonly blobs: Layer.Layer<BlobStore>
  readonly feed: Layer.Layer<Feed>
  /** For databases that one process owns. */
  readonly rates: Layer.Layer<RateStore>
} = {
  layer: Layer.mergeAll(databaseStores, BlobStoreMemory.layer, FeedMemory.layer),
  database: databaseStores,
  blobs: BlobStoreMemory.layer,
  feed: FeedMemory.layer,
  rates: RateStoreMemory.layer
}
