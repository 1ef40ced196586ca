/**
 * Weft as a whole: the one place where services are put together.
 *
 * - A host that uses Effect provides `layer` with its stores, blobs, feed and sandbox.
 * - Any other host calls `start` and gets promises; the same services stand behind both.
 */
import { Effect, Layer, ManagedRuntime, References } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { ApiKeys } from "./access/ApiKeys.ts"
import { Credentials } from "./access/Credentials.ts"
import { ServiceKeys } from "./access/ServiceKeys.ts"
import * as SessionJanitor from "./access/SessionJanitor.ts"
import { Sessions } from "./access/Sessions.ts"
import type { Feed } from "./activity/Feed.ts"
import { auditedResealing } from "./audit/AuditedResealing.ts"
import { auditedStores } from "./audit/AuditedStores.ts"
import { type AuditConfig, AuditLog, type AuditQuery } from "./audit/AuditLog.ts"
import { Refusals } from "./audit/Refusals.ts"
import { watchedCredentials } from "./audit/WatchedCredentials.ts"
import type { BlobStore } from "./blobs/BlobStore.ts"
import { Artifacts } from "./builds/Artifacts.ts"
import { Assets } from "./builds/Assets.ts"
import * as BuildContents from "./builds/BuildContents.ts"
import { Builds } from "./builds/Builds.ts"
import { Deployments } from "./builds/Deployments.ts"
import { ArchiveBytesMax } from "./builds/Upload.ts"
import { Calls } from "./control/Calls.ts"
import * as Retention from "./control/Retention.ts"
import { RunControl } from "./control/RunControl.ts"
import { Runs } from "./control/Runs.ts"
import { StreamWatch } from "./control/StreamWatch.ts"
import { Claimer } from "./deliveries/Claimer.ts"
import * as DeliveryMetrics from "./deliveries/DeliveryMetrics.ts"
import { DeliveryWorker } from "./deliveries/DeliveryWorker.ts"
import { Dispatcher } from "./deliveries/Dispatcher.ts"
import { HostTransactions } from "./deliveries/HostTransactions.ts"
import * as Intake from "./deliveries/Intake.ts"
import * as OwedGroups from "./deliveries/OwedGroups.ts"
import * as Scheduler from "./deliveries/Scheduler.ts"
import { Slots, type SlotsConfig } from "./deliveries/Slots.ts"
import type { DomainCertificates } from "./domains/DomainCertificates.ts"
import type { DomainRoutes } from "./domains/DomainRoutes.ts"
import type { Domains } from "./domains/Domains.ts"
import { type DomainsConfig, domainsLayer } from "./domains/DomainsConfig.ts"
import type { ZonesInvalid } from "./domains/DomainZones.ts"
import type { Egress } from "./egress/Egress.ts"
import { Keyring, type MasterKeyInvalid, type MasterKeys } from "./encryption/Keyring.ts"
import { type Resealed, Resealing } from "./encryption/Resealing.ts"
import type { StoreUnavailable } from "./errors/Errors.ts"
import { Events } from "./events/Events.ts"
import { SystemEvents } from "./events/SystemEvents.ts"
import { Executor } from "./execution/Executor.ts"
import * as LeaseKeeper from "./execution/LeaseKeeper.ts"
import * as LiveLogs from "./execution/LiveLogs.ts"
import { RunningRuns } from "./execution/RunningRuns.ts"
import { WaitedRuns } from "./execution/WaitedRuns.ts"
import { FileLinks } from "./files/FileLinks.ts"
import { Files } from "./files/Files.ts"
import * as FileJanitor from "./files/Janitor.ts"
import { OpenUploads } from "./files/OpenUploads.ts"
import { PublicUrl } from "./files/PublicUrl.ts"
import { Readers } from "./files/Readers.ts"
import { Uploads } from "./files/Uploads.ts"
import { type HostAuditEntry, hostAuditEntry } from "./HostAudit.ts"
import { makeHostCalls } from "./HostCalls.ts"
import { hostEnv, type WeftEnv } from "./HostEnv.ts"
import { type HostProvisioning, provisioningOf } from "./HostProvisioning.ts"
import { mapPage } from "./HostRecords.ts"
import { hostTenant, type WeftTenant } from "./HostTenant.ts"
import type { HostFunctions } from "./hosting/HostFunction.ts"
import { type HostFunctionInvalid, hostTableLayer } from "./hosting/HostTable.ts"
import type { EnvId } from "./ids/Ids.ts"
import { firstPage, type Page, type PageRequest } from "./ids/Page.ts"
import * as Departure from "./journal/Departure.ts"
import { Journal } from "./journal/Journal.ts"
import { Lookout } from "./journal/Lookout.ts"
import { NodeLease } from "./journal/NodeLease.ts"
import { OwnRuns } from "./journal/OwnRuns.ts"
import * as Reaper from "./journal/Reaper.ts"
import { Untold } from "./journal/Untold.ts"
import { type DatabaseStores, MemoryStores } from "./memory/MemoryStores.ts"
import { NodeMetrics } from "./metrics/NodeMetrics.ts"
import { Projects } from "./projects/Projects.ts"
import { defaultLimits } from "./sandbox/Limits.ts"
import type { Sandbox } from "./sandbox/Sandbox.ts"
import { Schedules } from "./schedules/Schedules.ts"
import { ContextVariables } from "./secrets/ContextVariables.ts"
import { ProjectSecrets } from "./secrets/ProjectSecrets.ts"
import type { StreamsConfig } from "./streams/StreamHub.ts"
import { Streams } from "./streams/Streams.ts"
import { announcerLayer, hooksLayer } from "./tenancy/Announcer.ts"
import type { PlanInvalid, PlanOverrides } from "./tenancy/Plan.ts"
import { Plans } from "./tenancy/Plans.ts"
import { Provisioning, type ProvisioningConfig } from "./tenancy/Provisioning.ts"
import { Quotas } from "./tenancy/Quotas.ts"
import { RateLimits } from "./tenancy/RateLimits.ts"
import type { Tenant } from "./tenancy/Tenant.ts"
import { Tenants, type WantedTenant } from "./tenancy/Tenants.ts"
import { Tools } from "./tools/Tools.ts"
import { OrgUsages } from "./usage/OrgUsages.ts"
import { Webhooks } from "./webhooks/Webhooks.ts"

/** What a database adapter provides. */
export type Stores = DatabaseStores

/** What a host, and the HTTP layer, can use. */
export type WeftServices =
  | NodeMetrics
  | Tenants
  | Plans
  | RateLimits
  | ApiKeys
  | Sessions
  | ServiceKeys
  | Credentials
  | AuditLog
  | Refusals
  | Projects
  | ContextVariables
  | Resealing
  | Files
  | FileLinks
  | Uploads
  | Builds
  | Schedules
  | Events
  | HostTransactions
  | Runs
  | RunControl
  | Calls
  | OrgUsages
  | Streams
  | Webhooks
  | Tools
  | Domains
  | DomainRoutes
  | DomainCertificates
  | Dispatcher

export interface RuntimeConfig {
  /**
   * What secrets are encrypted with: the current key, then former ones that may still be needed. Keep them apart from
   * the data; without them its secrets are lost.
   */
  readonly masterKeys: MasterKeys
  /** Deliveries that run at once on this node; default 4096, at most 1024 of one environment. */
  readonly deliveries?: SlotsConfig
  /** The largest zip of a build in bytes; default 50 MiB. The sandbox and the HTTP layer have the same limit. */
  readonly archiveBytes?: number
  /** Limits in place of those of the table of plans, by the name of the plan. */
  readonly plans?: PlanOverrides
  /** How long other nodes wait before they take this one for dead; default 30 s. */
  readonly leaseMs?: number
  /** How long ended runs are kept at most, whatever their plan says, in milliseconds; by default the plan alone says it. */
  readonly retentionMs?: number
  /** What the host has to do with the coming of tenants; by default only it makes them, and it need not be told. */
  readonly provisioning?: ProvisioningConfig<WeftServices>
  /** Tenants' own host names; by default they can be registered, but not validated. */
  readonly domains?: DomainsConfig
  /** How much of the audit log is kept. */
  readonly audit?: AuditConfig
  /** What is kept for those who watch what happens. */
  readonly streams?: StreamsConfig
  /** What the code of tenants may call of this host, by name: `svc.host.crm.lookup(…)` calls `"crm.lookup"`. */
  readonly host?: HostFunctions
  /** The address under which clients reach this host, without a slash at its end. Without it no links are made. */
  readonly publicUrl?: string | (() => string | null)
}

/**
 * Room for a short flood: what finds a slot when it is published costs a third less than what has to wait in the store.
 * And for two claims of one environment, so that one is taken while the other is worked on.
 */
const defaultDeliveries: SlotsConfig = { total: 4096, perEnv: 1024 }
const defaultLeaseMs = 30_000

/** Keeps libraries from making spans of their own: see `tracing/Spans.ts`. */
const ownSpansOnly = Layer.succeed(References.TracerEnabled, false)

/** Who is refused is counted. */
const credentials = Layer.provide(watchedCredentials, Credentials.layer).pipe(Layer.provideMerge(Refusals.layer))

const secrets = ContextVariables.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(ProjectSecrets.layer, Layer.provide(auditedResealing, Resealing.layer)))
)

const filesLayer = (publicUrl: string | (() => string | null) | null) => {
  const links = Layer.provide(
    FileLinks.layer,
    Layer.succeed(PublicUrl, typeof publicUrl === "function" ? publicUrl : () => publicUrl)
  )
  return Layer.mergeAll(Uploads.layer, FileJanitor.layer, links).pipe(
    Layer.provideMerge(Files.layer),
    Layer.provide(Layer.mergeAll(OpenUploads.layer, Readers.layer))
  )
}

/** Weft on Effect: everything it is made of, from what a host supplies. Running deliveries begins with the layer. */
export const layer = (
  config: RuntimeConfig
): Layer.Layer<
  WeftServices,
  StoreUnavailable | MasterKeyInvalid | PlanInvalid | ZonesInvalid | HostFunctionInvalid,
  Stores | BlobStore | Feed | Sandbox
> => {
  const crypto = Keyring.layer(config.masterKeys).pipe(
    Layer.provideMerge(Layer.mergeAll(SecureRandom.layerWebCrypto, Digest.layerWebCrypto))
  )
  const deliveries = config.deliveries ?? defaultDeliveries
  const node = Layer.mergeAll(
    NodeLease.layer(config.leaseMs ?? defaultLeaseMs),
    Slots.layer(deliveries),
    OwnRuns.layer,
    Untold.layer,
    NodeMetrics.layer
  )
  const tenure = Layer.provideMerge(Layer.mergeAll(RateLimits.layer, Quotas.layer), Plans.layer(config.plans))
  const { provisioning = {} } = config
  const tenancy = Layer.provideMerge(Provisioning.layer(provisioning), Tenants.layer).pipe(
    Layer.provideMerge(tenure),
    Layer.provideMerge(announcerLayer(provisioning))
  )
  const keys = Layer.mergeAll(ApiKeys.layer, Sessions.layer, ServiceKeys.layer, SessionJanitor.layer)
  const access = keys.pipe(Layer.provideMerge(Layer.mergeAll(credentials, tenancy)))
  const archiveBytes = Layer.succeed(ArchiveBytesMax, config.archiveBytes ?? defaultLimits.archiveBytes)
  const builds = Layer.mergeAll(Projects.layer.pipe(Layer.provide(BuildContents.layer)), Builds.layer).pipe(
    Layer.provide(archiveBytes),
    Layer.provideMerge(Layer.mergeAll(Deployments.layer, Artifacts.layer, Assets.layer))
  )
  const files = Layer.provide(filesLayer(config.publicUrl ?? null), access)
  // What a former life left is ended before anything is claimed.
  const claiming = Layer.provide(Layer.merge(Claimer.layer, Retention.layer(config.retentionMs ?? null)), Reaper.layer)
  const publishing = Layer.merge(Events.layer, HostTransactions.layer).pipe(
    Layer.provideMerge(SystemEvents.layer),
    Layer.provideMerge(Intake.layer),
    Layer.provideMerge(Layer.mergeAll(Journal.layer, claiming)),
    Layer.provideMerge(Layer.provideMerge(Layer.merge(Lookout.layer, Departure.layer), node)),
    Layer.provideMerge(Layer.mergeAll(access, builds, secrets, files))
  )
  const running = Layer.mergeAll(
    Layer.provide(Dispatcher.layer, DeliveryWorker.layer),
    DeliveryMetrics.layer(deliveries),
    OwedGroups.layer,
    Scheduler.layer,
    Schedules.layer
  )
  const domains = Layer.provide(domainsLayer(config.domains), access)
  const streams = Streams.layer(config.streams)
  const controlling = Layer.mergeAll(Runs.layer, RunControl.layer, Calls.layer, LiveLogs.layer, LeaseKeeper.layer)
  const waited = Layer.provide(Layer.merge(Webhooks.layer, Tools.layer), WaitedRuns.layer)
  const services = Layer.mergeAll(
    waited,
    controlling,
    OrgUsages.layer,
    AuditLog.layer(config.audit),
    running,
    domains,
    streams
  ).pipe(
    Layer.provideMerge(Layer.provide(Executor.layer, hostTableLayer(config.host))),
    Layer.provideMerge(Layer.merge(RunningRuns.layer, StreamWatch.layer)),
    Layer.provideMerge(publishing),
    Layer.provide(auditedStores),
    Layer.provide(crypto),
    Layer.provide(ownSpansOnly)
  )
  return Layer.provideMerge(hooksLayer(provisioning), services)
}

export interface StartOptions extends Omit<RuntimeConfig, "provisioning"> {
  /** What the host has to do with the coming of tenants; by default only it makes them, and it need not be told. */
  readonly provisioning?: HostProvisioning
  /** A database adapter, such as `Sqlite.stores({ file })`. */
  readonly stores: Layer.Layer<Stores, unknown>
  /** A blob adapter, such as `Filesystem.blobs({ dir })`. */
  readonly blobs: Layer.Layer<BlobStore, unknown>
  readonly sandbox: Layer.Layer<Sandbox, unknown>
  /** How nodes tell each other news; by default within this process. */
  readonly feed?: Layer.Layer<Feed, unknown>
  /** The way out for `fetch` of guests, such as `outbound()` of `@weft/egress`; by default there is none. */
  readonly egress?: Layer.Layer<Egress, unknown>
  /** What installs a tracer, such as `otlp()` or `hostTracer()` of `@weft/opentelemetry`; by default nothing is traced. */
  readonly tracing?: Layer.Layer<never, unknown>
}

/** A running Weft, for hosts without Effect. Promises reject with the errors of `errors/Errors.ts`, each with its `code`. */
export interface WeftInstance {
  /** The services behind it, for hosts with Effect and for `@weft/http`. */
  readonly runtime: ManagedRuntime.ManagedRuntime<WeftServices | Feed, unknown>
  readonly orgs: {
    readonly create: Promised<Tenants["Service"]["createOrg"]>
    readonly list: Promised<Tenants["Service"]["listOrgs"]>
    readonly get: Promised<Tenants["Service"]["getOrg"]>
    readonly update: Promised<Tenants["Service"]["updateOrg"]>
  }
  readonly envs: {
    readonly create: Promised<Tenants["Service"]["createEnv"]>
    readonly list: Promised<Tenants["Service"]["listEnvs"]>
    readonly get: Promised<Tenants["Service"]["getEnv"]>
  }
  readonly tenants: {
    /** The environment of this name, with its organization. Makes of both what is not there; may be repeated at will. */
    readonly ensure: (wanted: WantedTenant) => Promise<WeftTenant>
  }
  readonly apiKeys: {
    readonly create: Promised<ApiKeys["Service"]["create"]>
    readonly list: Promised<ApiKeys["Service"]["list"]>
    readonly update: Promised<ApiKeys["Service"]["update"]>
    readonly remove: Promised<ApiKeys["Service"]["remove"]>
  }
  readonly audit: {
    /** Of all environments, and of none; newest first. */
    readonly list: (
      query?: AuditQuery & { readonly env_id?: EnvId },
      page?: PageRequest
    ) => Promise<Page<HostAuditEntry>>
  }
  readonly secrets: {
    /** After the master key was changed: seals everything anew that a former one sealed. May be repeated at will. */
    readonly reseal: () => Promise<Resealed>
  }
  /** One environment, with the rights of the host: all of them. */
  readonly env: (envId: EnvId) => WeftEnv
  /**
   * Takes no more deliveries, for good, and resolves when running ones have finished, after 30 s at most. Everything else
   * goes on: for a node that first sends its clients to the others.
   */
  readonly drain: () => Promise<void>
  /** Stops taking deliveries, lets running ones finish for up to 30 s, then ends everything. */
  readonly close: () => Promise<void>
}

/** Starts Weft in this process. Rejects when a store cannot be opened. */
export const start = async (options: StartOptions): Promise<WeftInstance> => {
  const supplied = Layer.mergeAll(
    options.stores,
    options.blobs,
    options.sandbox,
    options.feed ?? MemoryStores.feed,
    options.egress ?? Layer.empty
  )
  const tracing = Layer.merge(options.tracing ?? Layer.empty, ownSpansOnly)
  // Called when there is a runtime: hooks run in what it builds.
  const tenantOf = (tenant: Tenant): WeftTenant => hostTenant(calls, tenant)
  const config = { ...options, provisioning: provisioningOf(options.provisioning ?? {}, tenantOf) }
  const runtime: WeftInstance["runtime"] = ManagedRuntime.make(
    Layer.provideMerge(layer(config), supplied).pipe(Layer.provideMerge(tracing))
  )
  const calls = makeHostCalls(runtime)
  await runtime.context()
  const { run } = calls
  const promised =
    <Args extends ReadonlyArray<unknown>, A, E>(method: (...args: Args) => Effect.Effect<A, E, WeftServices>) =>
    (...args: Args): Promise<A> =>
      run(method(...args))
  const { tenants, apiKeys } = await run(Effect.all({ tenants: Tenants, apiKeys: ApiKeys }))

  return {
    runtime,
    orgs: {
      create: promised(tenants.createOrg),
      list: promised(tenants.listOrgs),
      get: promised(tenants.getOrg),
      update: promised(tenants.updateOrg)
    },
    envs: { create: promised(tenants.createEnv), list: promised(tenants.listEnvs), get: promised(tenants.getEnv) },
    tenants: { ensure: async (wanted) => tenantOf(await run(tenants.ensure(wanted))) },
    apiKeys: {
      create: promised(apiKeys.create),
      list: promised(apiKeys.list),
      update: promised(apiKeys.update),
      remove: promised(apiKeys.remove)
    },
    audit: {
      list: async (query = {}, page = firstPage) =>
        mapPage(hostAuditEntry)(await run(AuditLog.use((log) => log.listAll(query, page))))
    },
    secrets: { reseal: () => run(Resealing.use((resealing) => resealing.reseal)) },
    env: (envId) => hostEnv(calls, envId),
    drain: () => run(Dispatcher.use((dispatcher) => dispatcher.drain)),
    close: () => runtime.dispose()
  }
}

/** A method of a service as a host sees it. */
type Promised<F> = F extends (...args: infer Args) => Effect.Effect<infer A, infer _E, infer _R>
  ? (...args: Args) => Promise<A>
  : never
