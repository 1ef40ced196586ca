/**
 * Assembly of all services of Weft. No other module composes them.
 *
 * - A host that uses Effect provides `layer` with its stores, blobs, cluster bus and sandbox.
 * - Any other host calls `start` and uses promises. Both run the same services.
 */
import { Effect, Layer, ManagedRuntime, References } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { buildsLayer, filesLayer } from "./ContentLayers.ts"
import { type ControlServices, controlLayer, loadLayer } from "./ControlLayers.ts"
import { type HostAuditEntry, hostAuditEntry } from "./embed/HostAudit.ts"
import { makeHostCalls } from "./embed/HostCalls.ts"
import { hostEnv, type WeftEnv } from "./embed/HostEnv.ts"
import { type HostProvisioning, toProvisioning } from "./embed/HostProvisioning.ts"
import { mapPage } from "./embed/HostRecords.ts"
import { hostTenant, type WeftTenant } from "./embed/HostTenant.ts"
import type { StoreUnavailable } from "./foundation/Errors.ts"
import type { EnvId } from "./foundation/Ids.ts"
import { firstPage, type Page, type PageRequest } from "./foundation/Page.ts"
import { NodeMetrics } from "./foundation/telemetry/NodeMetrics.ts"
import { registerFace } from "./Instances.ts"
import { type DatabaseStores, MemoryStores } from "./memory/MemoryStores.ts"
import type { BlobStore } from "./platform/blobs/BlobStore.ts"
import type { ClusterBus } from "./platform/cluster/ClusterBus.ts"
import type { Egress } from "./platform/egress/Egress.ts"
import { KeyRotation, type RotatedSecrets } from "./platform/encryption/KeyRotation.ts"
import { Keyring, type MasterKeyInvalid, type MasterKeys } from "./platform/encryption/Keyring.ts"
import type { Sandbox } from "./platform/sandbox/Sandbox.ts"
import { turnMetrics } from "./platform/turns/Turns.ts"
import { auditedCredentials } from "./resources/audit/AuditedCredentials.ts"
import { auditedKeyRotation } from "./resources/audit/AuditedKeyRotation.ts"
import { auditedStores } from "./resources/audit/AuditedStores.ts"
import { type AuditConfig, AuditLog, type AuditQuery } from "./resources/audit/AuditLog.ts"
import * as QuarantineMonitor from "./resources/audit/QuarantineMonitor.ts"
import { Refusals } from "./resources/audit/Refusals.ts"
import type { Builds } from "./resources/builds/Builds.ts"
import type { DeployPolicy } from "./resources/builds/DeployPolicy.ts"
import type { DomainCertificates } from "./resources/domains/DomainCertificates.ts"
import type { DomainRoutes } from "./resources/domains/DomainRoutes.ts"
import type { Domains } from "./resources/domains/Domains.ts"
import { type DomainsConfig, domainsLayer } from "./resources/domains/DomainsConfig.ts"
import type { ZonesInvalid } from "./resources/domains/DomainZones.ts"
import type { FileLinks } from "./resources/files/FileLinks.ts"
import type { Files } from "./resources/files/Files.ts"
import { publicUrlLayer } from "./resources/files/PublicUrl.ts"
import type { ScrubConfig } from "./resources/files/Scrubber.ts"
import type { Uploads } from "./resources/files/Uploads.ts"
import type { Previews } from "./resources/previews/Previews.ts"
import type { Projects } from "./resources/projects/Projects.ts"
import { Schedules } from "./resources/schedules/Schedules.ts"
import { ContextVariables } from "./resources/secrets/ContextVariables.ts"
import { ProjectSecrets } from "./resources/secrets/ProjectSecrets.ts"
import { OrgUsages } from "./resources/usage/OrgUsages.ts"
import { type AlertHook, CurrentAlertHook } from "./runtime/control/AlertNotifier.ts"
import type { Nodes } from "./runtime/control/Nodes.ts"
import * as Retention from "./runtime/control/Retention.ts"
import { StreamWatch } from "./runtime/control/StreamWatch.ts"
import { Claimer } from "./runtime/dispatch/Claimer.ts"
import { DeliveryWorker } from "./runtime/dispatch/DeliveryWorker.ts"
import { Dispatcher } from "./runtime/dispatch/Dispatcher.ts"
import * as EventWriter from "./runtime/dispatch/EventWriter.ts"
import * as GroupUnparker from "./runtime/dispatch/GroupUnparker.ts"
import { HostTransactions } from "./runtime/dispatch/HostTransactions.ts"
import * as Scheduler from "./runtime/dispatch/Scheduler.ts"
import { Slots, type SlotsConfig } from "./runtime/dispatch/Slots.ts"
import { Evaluations } from "./runtime/evaluation/Evaluations.ts"
import { Repl } from "./runtime/evaluation/Repl.ts"
import { Snippets } from "./runtime/evaluation/Snippets.ts"
import { EventExpressions } from "./runtime/events/EventExpressions.ts"
import { Events } from "./runtime/events/Events.ts"
import { SystemEvents } from "./runtime/events/SystemEvents.ts"
import { ActiveRuns } from "./runtime/execution/ActiveRuns.ts"
import { Executor } from "./runtime/execution/Executor.ts"
import { SynchronousRuns } from "./runtime/execution/SynchronousRuns.ts"
import { ActiveCanaries } from "./runtime/journal/ActiveCanaries.ts"
import { ActivePauses } from "./runtime/journal/ActivePauses.ts"
import { Journal } from "./runtime/journal/Journal.ts"
import { LocalRuns } from "./runtime/journal/LocalRuns.ts"
import { NodeLease } from "./runtime/journal/NodeLease.ts"
import * as NodeShutdown from "./runtime/journal/NodeShutdown.ts"
import * as Reaper from "./runtime/journal/Reaper.ts"
import { SeriesRecorder } from "./runtime/journal/SeriesRecorder.ts"
import { StorePoller } from "./runtime/journal/StorePoller.ts"
import { UnconfirmedWrites } from "./runtime/journal/UnconfirmedWrites.ts"
import type { StreamsConfig } from "./runtime/streams/StreamHub.ts"
import { Streams } from "./runtime/streams/Streams.ts"
import type { HostFunctions } from "./runtime/svc/host/HostFunction.ts"
import { type HostFunctionInvalid, hostTableLayer } from "./runtime/svc/host/HostTable.ts"
import { McpSessions } from "./runtime/webhooks/McpSessions.ts"
import { Tools } from "./runtime/webhooks/Tools.ts"
import { Webhooks } from "./runtime/webhooks/Webhooks.ts"
import { Arrivals } from "./runtime/workflows/Arrivals.ts"
import { ChildRuns } from "./runtime/workflows/ChildRuns.ts"
import { Workflows } from "./runtime/workflows/Workflows.ts"
import { ApiKeys } from "./tenants/access/ApiKeys.ts"
import { type ConsoleSessions, consoleSessionsLayer } from "./tenants/access/ConsoleSessions.ts"
import { Credentials } from "./tenants/access/Credentials.ts"
import { ServiceKeys } from "./tenants/access/ServiceKeys.ts"
import * as SessionJanitor from "./tenants/access/SessionJanitor.ts"
import type { Sessions } from "./tenants/access/Sessions.ts"
import type { PlanInvalid, PlanOverrides } from "./tenants/orgs/Plan.ts"
import { Plans } from "./tenants/orgs/Plans.ts"
import { Provisioning, type ProvisioningConfig } from "./tenants/orgs/Provisioning.ts"
import { Quotas } from "./tenants/orgs/Quotas.ts"
import { RateLimits } from "./tenants/orgs/RateLimits.ts"
import { type StartChecksConfig, type StartRefusal, startChecksLayer } from "./tenants/orgs/StartChecks.ts"
import type { Tenant } from "./tenants/orgs/Tenant.ts"
import { hooksLayer, tenantHookRunnerLayer } from "./tenants/orgs/TenantHookRunner.ts"
import { type TenantRequest, Tenants } from "./tenants/orgs/Tenants.ts"

/** The stores that a database adapter provides. */
export type Stores = DatabaseStores

/** The services for hosts and for the HTTP layer. */
export type WeftServices =
  | NodeMetrics
  | Tenants
  | Plans
  | RateLimits
  | ApiKeys
  | Sessions
  | ConsoleSessions
  | ServiceKeys
  | Credentials
  | AuditLog
  | Refusals
  | Projects
  | Previews
  | ContextVariables
  | KeyRotation
  | Files
  | FileLinks
  | Uploads
  | Builds
  | Schedules
  | Events
  | HostTransactions
  | ControlServices
  | Nodes
  | OrgUsages
  | Streams
  | Webhooks
  | Tools
  | Evaluations
  | Repl
  | Snippets
  | McpSessions
  | Domains
  | DomainRoutes
  | DomainCertificates
  | Dispatcher

export interface RuntimeConfig extends StartChecksConfig {
  /**
   * The keys that encrypt secrets: the current key, then former ones that may still be needed. Store them separately
   * from the data. Without them the secrets are lost.
   */
  readonly masterKeys: MasterKeys
  /** Maximum concurrent deliveries on this node; by default 4096, and at most 1024 of one environment. */
  readonly deliveries?: SlotsConfig
  /** Maximum size of the zip of a build, in bytes; by default 50 MiB. The sandbox and the HTTP layer have the same limit. */
  readonly archiveBytes?: number
  /** Limits that override those of the built-in plans, by plan name. */
  readonly plans?: PlanOverrides
  /** Lease of this node, in milliseconds; by default 30,000. Other nodes consider it dead when the lease expires. */
  readonly leaseMs?: number
  /** Maximum retention of ended runs in milliseconds, in addition to the limit of their plan; by default only the plan's. */
  readonly retentionMs?: number
  /** Creation of tenants by webhooks, and hooks for new tenants; by default only the host creates tenants. */
  readonly provisioning?: ProvisioningConfig<WeftServices>
  /** Custom domains of tenants; by default they can be registered, but not validated. */
  readonly domains?: DomainsConfig
  /** Retention of the audit log. */
  readonly audit?: AuditConfig
  /** Rate of the scrubber, which verifies stored files and builds. */
  readonly scrub?: ScrubConfig
  /** Buffers for subscribers to live activity. */
  readonly streams?: StreamsConfig
  /** Host functions for tenants' code, by name: `svc.host.crm.lookup(…)` calls `"crm.lookup"`. */
  readonly host?: HostFunctions
  /** Callback for alert rules with the action `hook`, for example for mail. A failure is retried, so it may be repeated. */
  readonly onAlert?: AlertHook
  /** Decides about deployments; by default all are allowed. */
  readonly deployPolicy?: DeployPolicy
  /** Base URL under which clients reach this host, without a trailing slash. Without it, no links can be created. */
  readonly publicUrl?: string | (() => string | null)
}

/**
 * Enough slots for a short burst. A delivery that finds a slot when it is published costs a third less than one that is
 * claimed from the store. One environment may hold two claims, so that one is read while the other runs.
 */
const defaultDeliveries: SlotsConfig = { total: 4096, perEnv: 1024 }
const defaultLeaseMs = 30_000

/** Prevents libraries from making their own spans: see `foundation/telemetry/Spans.ts`. */
const ownSpansOnly = Layer.succeed(References.TracerEnabled, false)

/** Credentials with a counter of refusals. */
const credentials = Layer.provide(auditedCredentials, Credentials.layer).pipe(Layer.provideMerge(Refusals.layer))

const secrets = ContextVariables.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(ProjectSecrets.layer, Layer.provide(auditedKeyRotation, KeyRotation.layer)))
)

/** Builds all services from the adapters of a host, for hosts on Effect. The layer starts running deliveries. */
export const layer = (
  config: RuntimeConfig
): Layer.Layer<
  WeftServices,
  StoreUnavailable | StartRefusal | MasterKeyInvalid | PlanInvalid | ZonesInvalid | HostFunctionInvalid,
  Stores | BlobStore | ClusterBus | Sandbox
> => {
  const crypto = Keyring.layer(config.masterKeys).pipe(
    Layer.provideMerge(Layer.mergeAll(SecureRandom.layerWebCrypto, Digest.layerWebCrypto))
  )
  const { provisioning = {}, deliveries = defaultDeliveries } = config
  const node = Layer.mergeAll(
    Layer.provideMerge(SeriesRecorder.layer, NodeLease.layer(config.leaseMs ?? defaultLeaseMs)),
    Slots.layer(deliveries),
    LocalRuns.layer,
    UnconfirmedWrites.layer,
    Layer.provideMerge(EventExpressions.layer, NodeMetrics.layer),
    publicUrlLayer(config.publicUrl ?? null)
  )
  const tenure = Layer.provideMerge(Layer.mergeAll(RateLimits.layer, Quotas.layer), Plans.layer(config.plans))
  const tenancy = Layer.provideMerge(Provisioning.layer(provisioning), Tenants.layer).pipe(
    Layer.provideMerge(tenure),
    Layer.provideMerge(tenantHookRunnerLayer(provisioning))
  )
  const keys = Layer.mergeAll(consoleSessionsLayer, ServiceKeys.layer, SessionJanitor.layer)
  const access = keys.pipe(Layer.provideMerge(Layer.mergeAll(credentials, tenancy)))
  const builds = Layer.provide(buildsLayer(config), Layer.merge(access, publicUrlLayer(config.publicUrl ?? null)))
  const files = Layer.provide(filesLayer(config.publicUrl ?? null, config.scrub), access)
  // The reaper ends runs of a previous process before anything is claimed.
  const claiming = Layer.provide(Layer.merge(Claimer.layer, Retention.layer(config.retentionMs ?? null)), Reaper.layer)
  const publishing = Layer.merge(Events.layer, HostTransactions.layer).pipe(
    Layer.provideMerge(SystemEvents.layer),
    Layer.provideMerge(EventWriter.layer),
    Layer.provideMerge(Layer.mergeAll(Arrivals.layer, ChildRuns.layer, ActiveRuns.layer)),
    Layer.provideMerge(Layer.mergeAll(Journal.layer, claiming)),
    Layer.provideMerge(Layer.merge(ActivePauses.layer, ActiveCanaries.layer)),
    Layer.provideMerge(Layer.provideMerge(Layer.merge(StorePoller.layer, NodeShutdown.layer), node)),
    Layer.provideMerge(Layer.mergeAll(access, builds, Layer.provide(secrets, access), files))
  )
  const running = Layer.mergeAll(
    Layer.provide(Dispatcher.layer, DeliveryWorker.layer).pipe(Layer.provideMerge(Workflows.layer)),
    loadLayer(deliveries),
    turnMetrics,
    QuarantineMonitor.layer,
    GroupUnparker.layer,
    Scheduler.layer,
    Schedules.layer
  )
  const waited = Layer.provide(
    Layer.mergeAll(Webhooks.layer, Tools.layer, McpSessions.layer, Evaluations.layer, Snippets.layer, Repl.layer),
    SynchronousRuns.layer
  )
  const services = Layer.mergeAll(
    waited,
    Layer.provide(controlLayer, Layer.succeed(CurrentAlertHook, config.onAlert ?? null)),
    OrgUsages.layer,
    AuditLog.layer(config.audit),
    running,
    Layer.provide(domainsLayer(config.domains), access),
    Streams.layer(config.streams)
  ).pipe(
    Layer.provideMerge(Layer.provide(Executor.layer, hostTableLayer(config.host))),
    Layer.provideMerge(StreamWatch.layer),
    Layer.provideMerge(publishing),
    Layer.provide(auditedStores),
    Layer.provide(Layer.provideMerge(startChecksLayer(config), crypto)),
    Layer.provide(ownSpansOnly)
  )
  return Layer.provideMerge(hooksLayer(provisioning), services)
}

export interface StartOptions extends Omit<RuntimeConfig, "provisioning"> {
  /** Creation of tenants by webhooks, and hooks for new tenants; by default only the host creates tenants. */
  readonly provisioning?: HostProvisioning
  /** A database adapter, such as `Sqlite.database({ file })`. */
  readonly database: Layer.Layer<Stores, unknown>
  /** A blob adapter, such as `Filesystem.blobs({ dir })`. */
  readonly blobs: Layer.Layer<BlobStore, unknown>
  readonly sandbox: Layer.Layer<Sandbox, unknown>
  /** A cluster bus between nodes; by default a bus within this process. */
  readonly cluster?: Layer.Layer<ClusterBus, unknown>
  /** Outbound requests of guests, such as `Egress.egress()` of `@weft/egress`; by default all are refused. */
  readonly egress?: Layer.Layer<Egress, unknown>
  /** A tracer, such as `Otel.tracing({ endpoint })` of `@weft/opentelemetry`; by default nothing is traced. */
  readonly tracing?: Layer.Layer<never, unknown>
}

/** A running Weft, for hosts without Effect. Promises reject with the errors of `foundation/Errors.ts`, each with a `code`. */
export interface WeftInstance {
  /** The services, for hosts with Effect and for `@weft/http`. */
  readonly runtime: ManagedRuntime.ManagedRuntime<WeftServices | ClusterBus, unknown>
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
    /** Returns the environment of this name with its organization. Creates what is missing. Idempotent. */
    readonly ensure: (wanted: TenantRequest) => Promise<WeftTenant>
  }
  readonly apiKeys: {
    readonly create: Promised<ApiKeys["Service"]["create"]>
    readonly list: Promised<ApiKeys["Service"]["list"]>
    readonly update: Promised<ApiKeys["Service"]["update"]>
    readonly remove: Promised<ApiKeys["Service"]["remove"]>
  }
  readonly audit: {
    /** Lists entries of all environments, and entries without an environment, newest first. */
    readonly list: (
      query?: AuditQuery & { readonly env_id?: EnvId },
      page?: PageRequest
    ) => Promise<Page<HostAuditEntry>>
  }
  readonly secrets: {
    /** Re-encrypts all secrets of former master keys with the current one. Idempotent. */
    readonly reseal: () => Promise<RotatedSecrets>
  }
  /** Returns one environment, with all permissions. */
  readonly env: (envId: EnvId) => WeftEnv
  /**
   * Permanently stops claiming deliveries, and resolves when running ones have finished, after at most 30 s. Everything
   * else continues, so that a node can hand over its clients before it closes.
   */
  readonly drain: () => Promise<void>
  /** Stops claiming deliveries, lets running ones finish for up to 30 s, then shuts down. */
  readonly close: () => Promise<void>
}

/** Starts Weft in this process. Rejects if a store cannot be opened. */
export const start = async (options: StartOptions): Promise<WeftInstance> => {
  const supplied = Layer.mergeAll(
    options.database,
    options.blobs,
    options.sandbox,
    options.cluster ?? MemoryStores.cluster,
    options.egress ?? Layer.empty
  )
  const tracing = Layer.merge(options.tracing ?? Layer.empty, ownSpansOnly)
  // Called only after the runtime is built: hooks use its services.
  const toTenant = (tenant: Tenant): WeftTenant => hostTenant(calls, tenant)
  const config = { ...options, provisioning: toProvisioning(options.provisioning ?? {}, toTenant) }
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
  const instance: WeftInstance = {
    runtime,
    orgs: {
      create: promised(tenants.createOrg),
      list: promised(tenants.listOrgs),
      get: promised(tenants.getOrg),
      update: promised(tenants.updateOrg)
    },
    envs: { create: promised(tenants.createEnv), list: promised(tenants.listEnvs), get: promised(tenants.getEnv) },
    tenants: { ensure: async (wanted) => toTenant(await run(tenants.ensure(wanted))) },
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
    secrets: { reseal: () => run(KeyRotation.use((rotation) => rotation.rotateKeys)) },
    env: (envId) => hostEnv(calls, envId),
    drain: () => run(Dispatcher.use((dispatcher) => dispatcher.drain)),
    close: () => runtime.dispose()
  }
  registerFace(instance, instance)
  return instance
}

/** A method of a service with its effect as a promise. */
type Promised<F> = F extends (...args: infer Args) => Effect.Effect<infer A, infer _E, infer _R>
  ? (...args: Args) => Promise<A>
  : never
