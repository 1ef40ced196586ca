export * from "./access/ApiKey.ts"
export * from "./access/ApiKeyStore.ts"
export * from "./access/ApiKeys.ts"
export { Caller, forbidden, hostIdentity, type Identity, onlyApiKeys, requirePermission } from "./access/Caller.ts"
export * from "./access/Credentials.ts"
export {
  Action,
  allows,
  fullPermissions,
  PermissionMap,
  parsePermissions,
  pathless,
  type ResourceType,
  readable,
  validActions
} from "./access/Permission.ts"
export { ServiceKey } from "./access/ServiceKey.ts"
export * from "./access/ServiceKeyStore.ts"
export * from "./access/ServiceKeys.ts"
export { Session } from "./access/Session.ts"
export * from "./access/SessionStore.ts"
export * from "./access/Sessions.ts"
export * from "./activity/Activity.ts"
export * from "./activity/Feed.ts"
export * from "./activity/FeedSessions.ts"
export * from "./activity/FeedTransport.ts"
export { FeedLagMax } from "./activity/LocalChannel.ts"
export * from "./activity/News.ts"
export { sharedFeed } from "./activity/SharedFeed.ts"
export {
  AuditAction,
  AuditActorType,
  AuditEntry,
  AuditOutcome
} from "./audit/AuditEntry.ts"
export { type AuditConfig, AuditLog, type AuditQuery } from "./audit/AuditLog.ts"
export * from "./audit/AuditStore.ts"
export { CurrentOrigin, type Origin } from "./audit/Origin.ts"
export { Refusals } from "./audit/Refusals.ts"
export * from "./blobs/BlobStore.ts"
export { dispose, markDisposable } from "./blobs/Pieces.ts"
export { artifactKey } from "./builds/Artifacts.ts"
export * from "./builds/Build.ts"
export * from "./builds/BuildStore.ts"
export * from "./builds/Builds.ts"
export type { OfferedTool } from "./builds/Deployments.ts"
export {
  Concurrency,
  Endpoint,
  EventHandler,
  FunctionEntry,
  Manifest,
  Method,
  ScheduleEntry,
  Tool
} from "./builds/Manifest.ts"
export { readManifest } from "./builds/Meta.ts"
export { noRetry, RetryPolicy } from "./builds/Retry.ts"
export { readTicks } from "./builds/Ticks.ts"
export type { NewBuild, Upload, Uploaded } from "./builds/Upload.ts"
export * from "./domains/Certificates.ts"
export { Dns, DnsUnavailable } from "./domains/Dns.ts"
export { Domain, DomainRoute, DomainStatus } from "./domains/Domain.ts"
export { DomainCertificate } from "./domains/DomainCertificate.ts"
export * from "./domains/DomainCertificates.ts"
export * from "./domains/DomainRoutes.ts"
export * from "./domains/DomainStore.ts"
export * from "./domains/Domains.ts"
export * from "./domains/DomainsConfig.ts"
export { localZones, type ZonesConfig, ZonesInvalid } from "./domains/DomainZones.ts"
export { HostName, hostOfHeader, parseHostName } from "./domains/HostName.ts"
export * from "./domains/Routing.ts"
export { type AddressRange, rangeOf, unmapped } from "./egress/AddressRange.ts"
export {
  Egress,
  EgressFailed,
  EgressRefused,
  type EgressRequest,
  type EgressResponse,
  type EgressUpload,
  type HeaderList,
  ownHeaders
} from "./egress/Egress.ts"
export {
  defaultEgressPolicy,
  type EgressPolicy,
  EgressPolicyInvalid,
  type EgressRules,
  egressRules
} from "./egress/EgressPolicy.ts"
export { type IpAddress, type IpBlock, isWithin, parseBlock, parseIp } from "./egress/IpAddress.ts"
export * from "./egress/Judgement.ts"
export { parseTarget } from "./egress/Target.ts"
export * from "./encryption/Keyring.ts"
export * from "./encryption/Resealing.ts"
export { Sealed } from "./encryption/Sealed.ts"
export * from "./encryption/SealedStore.ts"
export * from "./errors/Errors.ts"
export * from "./events/Event.ts"
export type { OnceRequest, Publication } from "./events/EventLog.ts"
export * from "./events/EventStore.ts"
export * from "./events/Events.ts"
export { defaultContentType } from "./files/ContentType.ts"
export * from "./files/File.ts"
export * from "./files/FileLinks.ts"
export * from "./files/FileStore.ts"
export { type Content, Files, type NewFile, type OpenFile, simpleUploadBytesMax } from "./files/Files.ts"
export * from "./files/MultipartUpload.ts"
export { isOver, refusalOf, type StoreFacts, succeeding } from "./files/StoreRules.ts"
export * from "./files/Uploads.ts"
export type { HostAudit, HostAuditEntry } from "./HostAudit.ts"
export type { HostServiceKey, HostServiceKeys, HostSession, HostSessions } from "./HostCredentials.ts"
export type { HostEnvServices, WeftEnv } from "./HostEnv.ts"
export type { HostFiles } from "./HostFiles.ts"
export type { HostProvisioning } from "./HostProvisioning.ts"
export { type HostEvent, type HostRun, hostEvent } from "./HostRecords.ts"
export type { HostCalled, HostRuns } from "./HostRuns.ts"
export type { HostStreams } from "./HostStreams.ts"
export type { WeftTenant } from "./HostTenant.ts"
export * from "./hosting/HostFunction.ts"
export type {
  GuestInput,
  GuestOutput,
  HostInput,
  HostOutput,
  HostSchema,
  StandardSchema
} from "./hosting/HostSchema.ts"
export { HostFunctionInvalid } from "./hosting/HostTable.ts"
export { toIdOrName } from "./ids/IdOrName.ts"
export {
  ApiKeyId,
  AuditId,
  BuildId,
  DeliveryId,
  DomainId,
  EnvId,
  EventId,
  FileId,
  fresh,
  HandlerId,
  isUuid,
  leastIdAt,
  NodeId,
  OrgId,
  ProjectId,
  RunId,
  ScheduleId,
  ServiceKeyId,
  SessionId,
  StreamId,
  UploadId
} from "./ids/Ids.ts"
export * from "./ids/JsonText.ts"
export { firstPage, type Page, PageRequest } from "./ids/Page.ts"
export { iso, now, Timestamp } from "./ids/Timestamp.ts"
export { utf8Encode, utf8Length } from "./ids/Utf8.ts"
export { makeUuidV7, timeOfUuidV7 } from "./ids/UuidV7.ts"
export * from "./memory/MemoryStores.ts"
export * from "./memory/TrustedSandbox.ts"
export type { TrustedSvc } from "./memory/TrustedSvc.ts"
export * from "./metrics/NodeMetrics.ts"
export * from "./metrics/Series.ts"
export * from "./projects/Project.ts"
export * from "./projects/ProjectStore.ts"
export * from "./projects/Projects.ts"
export * from "./runs/AdmissionStore.ts"
export { cancelRun, loseRun, startRun } from "./runs/Attempt.ts"
export * from "./runs/Calls.ts"
export * from "./runs/Delivery.ts"
export { Dispatcher } from "./runs/Dispatcher.ts"
export * from "./runs/Group.ts"
export * from "./runs/HostTransactions.ts"
export * from "./runs/JournalStore.ts"
export type { ReplayBuild } from "./runs/Replay.ts"
export * from "./runs/Run.ts"
export * from "./runs/RunControl.ts"
export * from "./runs/RunControlStore.ts"
export * from "./runs/RunStore.ts"
export * from "./runs/Runs.ts"
export { toStart } from "./runs/Started.ts"
export * from "./runs/TickStore.ts"
export * from "./sandbox/Limits.ts"
export * from "./sandbox/Outcome.ts"
export * from "./sandbox/RequestBody.ts"
export * from "./sandbox/Sandbox.ts"
export * from "./schedules/Schedule.ts"
export * from "./schedules/ScheduleStore.ts"
export * from "./schedules/Schedules.ts"
export { redeployed } from "./schedules/StaticSchedules.ts"
export { type ContextMetadata, ContextVariable, contextPlace } from "./secrets/ContextVariable.ts"
export * from "./secrets/ContextVariableStore.ts"
export * from "./secrets/ContextVariables.ts"
export * from "./secrets/ProjectSecrets.ts"
export { Message, type Position } from "./streams/Message.ts"
export { type Fact, latestFacts, retell, type StoredEvent, type StoredRun } from "./streams/Retelling.ts"
export { StreamHub, type StreamsConfig } from "./streams/StreamHub.ts"
export * from "./streams/StreamStore.ts"
export * from "./streams/Streams.ts"
export type { Ending, Portion, Subscription } from "./streams/Subscription.ts"
export { Announcement, firstAnnouncement, nextAnnouncement } from "./tenancy/Announcement.ts"
export type { Tenant, TenantHooks } from "./tenancy/Announcer.ts"
export * from "./tenancy/Month.ts"
export { defaultPlans, type Plan, PlanInvalid, PlanName, type PlanOverrides } from "./tenancy/Plan.ts"
export * from "./tenancy/Plans.ts"
export type { AskingLimits, ProvisioningConfig, TenantTerms } from "./tenancy/Provisioning.ts"
export * from "./tenancy/RateLimits.ts"
export * from "./tenancy/RateStore.ts"
export { Env, Org, Slug } from "./tenancy/Tenant.ts"
export * from "./tenancy/TenantStore.ts"
export * from "./tenancy/Tenants.ts"
export * from "./tenancy/UsageStore.ts"
export * from "./tools/Tools.ts"
export * from "./tracing/HostSpan.ts"
export {
  annotate,
  beginSpan,
  currentTraceparent,
  endSpan,
  hasTracer,
  nanosOf,
  type SpanAttributes,
  type SpanEnd,
  type SpanStart,
  tracerOf
} from "./tracing/Spans.ts"
export * from "./tracing/TraceContext.ts"
export * from "./usage/OrgUsage.ts"
export * from "./usage/OrgUsages.ts"
export * from "./Weft.ts"
export * from "./webhooks/WebhookCall.ts"
export * from "./webhooks/Webhooks.ts"
