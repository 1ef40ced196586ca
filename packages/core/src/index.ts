export { ApiKey } from "./access/ApiKey.ts"
export { ApiKeyStore } from "./access/ApiKeyStore.ts"
export { type ApiKeyChange, ApiKeys, type NewApiKey } from "./access/ApiKeys.ts"
export { Caller, forbidden, hostIdentity, type Identity, onlyApiKeys, requirePermission } from "./access/Caller.ts"
export { Credentials } from "./access/Credentials.ts"
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
export { ServiceKeyStore } from "./access/ServiceKeyStore.ts"
export { type NewServiceKey, ServiceKeys, type ShownServiceKey } from "./access/ServiceKeys.ts"
export { Session } from "./access/Session.ts"
export { SessionStore } from "./access/SessionStore.ts"
export { type NewSession, Sessions, type ShownSession } from "./access/Sessions.ts"
export { Activity } from "./activity/Activity.ts"
export { Feed, FeedUnusable, type Gap } from "./activity/Feed.ts"
export { type FeedSession, feedSessions } from "./activity/FeedSessions.ts"
export { FeedAway, type FeedSignal, type FeedTransport } from "./activity/FeedTransport.ts"
export { FeedLagMax } from "./activity/LocalChannel.ts"
export { News } from "./activity/News.ts"
export { sharedFeed } from "./activity/SharedFeed.ts"
export {
  AuditAction,
  AuditActorType,
  AuditEntry,
  AuditOutcome
} from "./audit/AuditEntry.ts"
export { type AuditConfig, AuditLog, type AuditQuery } from "./audit/AuditLog.ts"
export { type AuditFilter, AuditStore } from "./audit/AuditStore.ts"
export { CurrentOrigin, type Origin } from "./audit/Origin.ts"
export { Refusals } from "./audit/Refusals.ts"
export { type BlobPart, BlobStore, type ByteRange, type ServedAs, type Written } from "./blobs/BlobStore.ts"
export { dispose, markDisposable } from "./blobs/Pieces.ts"
export { artifactKey } from "./builds/Artifacts.ts"
export { Build } from "./builds/Build.ts"
export { BuildStore, type Deployment } from "./builds/BuildStore.ts"
export { type BuildDownload, Builds, type OfBuild } from "./builds/Builds.ts"
export type { OfferedTool } from "./builds/Deployments.ts"
export {
  Concurrency,
  Endpoint,
  EventHandler,
  endpointName,
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
export { type Called, Calls, type NewCall } from "./control/Calls.ts"
export type { ReplayBuild } from "./control/Replay.ts"
export { type CancelQuery, RunControl } from "./control/RunControl.ts"
export { type RunQuery, Runs } from "./control/Runs.ts"
export { Dispatcher } from "./deliveries/Dispatcher.ts"
export { HostTransactions, type Published } from "./deliveries/HostTransactions.ts"
export {
  type CertificateOrder,
  Certificates,
  CertificateUnavailable,
  type IssuedCertificate
} from "./domains/Certificates.ts"
export { Dns, DnsUnavailable } from "./domains/Dns.ts"
export { Domain, DomainRoute, DomainStatus } from "./domains/Domain.ts"
export { DomainCertificate } from "./domains/DomainCertificate.ts"
export { DomainCertificates, type OpenCertificate } from "./domains/DomainCertificates.ts"
export { DomainRoutes } from "./domains/DomainRoutes.ts"
export { type Claimed, type DomainClaim, DomainStore } from "./domains/DomainStore.ts"
export { Domains, type Verification } from "./domains/Domains.ts"
export { type DomainsConfig, domainsLayer } from "./domains/DomainsConfig.ts"
export { localZones, type ZonesConfig, ZonesInvalid } from "./domains/DomainZones.ts"
export { HostName, hostOfHeader, parseHostName } from "./domains/HostName.ts"
export { Routing, type RoutingTarget, RoutingUnavailable } from "./domains/Routing.ts"
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
export { type Destination, isAllowedName, isToldTrace, judgeAddresses, judgeDestination } from "./egress/Judgement.ts"
export { parseTarget } from "./egress/Target.ts"
export { CannotOpen, Keyring, MasterKeyInvalid, type MasterKeys, type Place } from "./encryption/Keyring.ts"
export { type Resealed, Resealing } from "./encryption/Resealing.ts"
export { Sealed } from "./encryption/Sealed.ts"
export { SealedStore, type SealedValue } from "./encryption/SealedStore.ts"
export {
  BadRequest,
  DomainExists,
  DomainLimitReached,
  Forbidden,
  FunctionFailed,
  NotFound,
  PageTooLarge,
  PermissionEscalation,
  PlanRequired,
  RateLimited,
  SessionLimitExceeded,
  StoreUnavailable,
  Taken,
  Unauthorized
} from "./errors/Errors.ts"
export { Event } from "./events/Event.ts"
export type { OnceRequest, Publication } from "./events/EventLog.ts"
export { EventStore } from "./events/EventStore.ts"
export { Events, type NewEvent } from "./events/Events.ts"
export { toStart } from "./execution/Started.ts"
export { defaultContentType } from "./files/ContentType.ts"
export { File } from "./files/File.ts"
export { type FileLink, FileLinks } from "./files/FileLinks.ts"
export { type FileFilter, FileStore, type Stored, type StoreTerms } from "./files/FileStore.ts"
export { type Content, Files, type NewFile, type OpenFile, simpleUploadBytesMax } from "./files/Files.ts"
export { MultipartUpload, UploadedPart } from "./files/MultipartUpload.ts"
export { isOver, refusalOf, type StoreFacts, succeeding } from "./files/StoreRules.ts"
export { type NewUpload, Uploads } from "./files/Uploads.ts"
export type { HostAudit, HostAuditEntry } from "./HostAudit.ts"
export type { HostServiceKey, HostServiceKeys, HostSession, HostSessions } from "./HostCredentials.ts"
export type { HostEnvServices, WeftEnv } from "./HostEnv.ts"
export type { HostFiles } from "./HostFiles.ts"
export type { HostProvisioning } from "./HostProvisioning.ts"
export { type HostEvent, type HostRun, hostEvent } from "./HostRecords.ts"
export type { HostCalled, HostRuns } from "./HostRuns.ts"
export type { HostStreams } from "./HostStreams.ts"
export type { WeftTenant } from "./HostTenant.ts"
export {
  type AbortableCall,
  type CallingRun,
  type GuestFunction,
  type GuestFunctions,
  type HostFunction,
  type HostFunctionOptions,
  type HostFunctions,
  type HostFunctionTerms,
  HostRefused,
  hostEffect,
  hostFunction,
  type NoInput,
  type NoOutput,
  type TenantCall
} from "./hosting/HostFunction.ts"
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
  isUuidShaped,
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
export { fromJsonText, JsonText, toJsonText } from "./ids/JsonText.ts"
export { checkPageBytes, firstPage, type Page, PageRequest, pageBytesMax } from "./ids/Page.ts"
export { isStorable } from "./ids/StorableText.ts"
export { iso, now, Timestamp } from "./ids/Timestamp.ts"
export { utf8Encode, utf8Length } from "./ids/Utf8.ts"
export { makeUuidV7, timeOfUuidV7 } from "./ids/UuidV7.ts"
export { smallDataBytes, withinClaim } from "./journal/ClaimData.ts"
export {
  type Claim,
  type ClaimRequest,
  type ClaimResult,
  type JournalEntry,
  JournalStore,
  type Lease,
  type Own,
  type Sight
} from "./journal/JournalStore.ts"
export { type DatabaseStores, MemoryStores } from "./memory/MemoryStores.ts"
export { type TrustedFunction, type TrustedModule, trustedSandbox, trustedZip } from "./memory/TrustedSandbox.ts"
export type { TrustedSvc } from "./memory/TrustedSvc.ts"
export { NodeMetrics, type Reading } from "./metrics/NodeMetrics.ts"
export { type AnySeries, Distribution, type HistogramSeries, type Series } from "./metrics/Series.ts"
export { Project, ProjectName } from "./projects/Project.ts"
export { ProjectStore } from "./projects/ProjectStore.ts"
export { Projects } from "./projects/Projects.ts"
export { type Admission, AdmissionStore, type Admitted, type EarlierRequest } from "./runs/AdmissionStore.ts"
export { cancelRun, loseRun, startRun } from "./runs/Attempt.ts"
export { Delivery } from "./runs/Delivery.ts"
export { type Group, parkedAt, roomFor } from "./runs/Group.ts"
export { Roster } from "./runs/Roster.ts"
export { LogEntry, Run, RunStats, RunStatus, RunType } from "./runs/Run.ts"
export {
  type CancelledRun,
  RunControlStore,
  type RunLog,
  type RunRef,
  type RunSelection
} from "./runs/RunControlStore.ts"
export { type RunFilter, RunStore } from "./runs/RunStore.ts"
export { type Tick, TickStore } from "./runs/TickStore.ts"
export { defaultLimits, Limits } from "./sandbox/Limits.ts"
export { type Execution, Outcome, Usage } from "./sandbox/Outcome.ts"
export type { RequestBody } from "./sandbox/RequestBody.ts"
export {
  type BundleFile,
  type BundleRef,
  BundleRejected,
  type ExportedFunction,
  type FreshBundle,
  type FunctionRef,
  type GuestLog,
  type HostCall,
  HostCallRefused,
  type Invocation,
  LogLevel,
  type Prepared,
  Sandbox,
  SandboxUnavailable,
  type StoredZip
} from "./sandbox/Sandbox.ts"
export { type Cancelled, Schedule, type ScheduleChange, type ScheduleRefusal } from "./schedules/Schedule.ts"
export { ScheduleStore } from "./schedules/ScheduleStore.ts"
export { Schedules } from "./schedules/Schedules.ts"
export { redeployed } from "./schedules/StaticSchedules.ts"
export { type ContextMetadata, ContextVariable, contextPlace } from "./secrets/ContextVariable.ts"
export { type ContextChange, ContextVariableStore } from "./secrets/ContextVariableStore.ts"
export {
  type ContextVariableChange,
  ContextVariables,
  contextValueBytesMax,
  contextVariablesMax,
  type NewContextVariable
} from "./secrets/ContextVariables.ts"
export { ProjectSecrets, SecretUnreadable } from "./secrets/ProjectSecrets.ts"
export { Message, type Position } from "./streams/Message.ts"
export { type Fact, latestFacts, retell, type StoredEvent, type StoredRun } from "./streams/Retelling.ts"
export { StreamHub, type StreamsConfig } from "./streams/StreamHub.ts"
export { type Happened, type SinceQuery, StreamStore, scannedMax } from "./streams/StreamStore.ts"
export { type StreamQuery, Streams, type WatchedEvent } from "./streams/Streams.ts"
export type { Ending, Portion, Subscription, Told } from "./streams/Subscription.ts"
export { Announcement, firstAnnouncement, nextAnnouncement } from "./tenancy/Announcement.ts"
export type { TenantHooks } from "./tenancy/Announcer.ts"
export { type Month, monthOf } from "./tenancy/Month.ts"
export { defaultPlans, type Plan, PlanInvalid, PlanName, type PlanOverrides } from "./tenancy/Plan.ts"
export { Plans } from "./tenancy/Plans.ts"
export type { AskingLimits, ProvisioningConfig, TenantTerms } from "./tenancy/Provisioning.ts"
export { RateLimits } from "./tenancy/RateLimits.ts"
export { RateStore } from "./tenancy/RateStore.ts"
export { Env, Org, Slug, type Tenant } from "./tenancy/Tenant.ts"
export { TenantStore } from "./tenancy/TenantStore.ts"
export { type NewOrg, type OrgChange, Tenants, type WantedTenant } from "./tenancy/Tenants.ts"
export { RunUsage, UsageStore } from "./tenancy/UsageStore.ts"
export { type ToolAddress, type ToolAnswer, type ToolService, Tools } from "./tools/Tools.ts"
export { HostSpan, inHostSpan } from "./tracing/HostSpan.ts"
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
export { parseTraceparent, traceparentOf } from "./tracing/TraceContext.ts"
export type { OrgUsage } from "./usage/OrgUsage.ts"
export { OrgUsages } from "./usage/OrgUsages.ts"
export {
  layer,
  type RuntimeConfig,
  type StartOptions,
  type Stores,
  start,
  type WeftInstance,
  type WeftServices
} from "./Weft.ts"
export type { WebhookAnswer, WebhookCall } from "./webhooks/WebhookCall.ts"
export { Webhooks } from "./webhooks/Webhooks.ts"
