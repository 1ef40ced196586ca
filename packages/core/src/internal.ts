/** For the packages of this repository only. Outside it, `exports` maps this path to null. */
export { hostEvent } from "./embed/HostRecords.ts"
export {
  annotate,
  beginSpan,
  endSpan,
  hasTracer,
  nanosOf,
  type SpanAttributes,
  type SpanEnd,
  type SpanStart,
  tracerOf
} from "./foundation/telemetry/Spans.ts"
export { formatTraceparent, parseTraceparent } from "./foundation/telemetry/TraceContext.ts"
export { readTicks } from "./foundation/time/Ticks.ts"
export { findInstance, registerFace } from "./Instances.ts"
export type { RotatedSecrets } from "./platform/encryption/KeyRotation.ts"
export { hostCallRefused } from "./platform/sandbox/Sandbox.ts"
export { eventLoop } from "./platform/turns/EventLoop.ts"
export { WorkScheduler } from "./platform/turns/WorkScheduler.ts"
export type { AuditQuery } from "./resources/audit/AuditLog.ts"
export type { Origin } from "./resources/audit/Origin.ts"
export { Refusals } from "./resources/audit/Refusals.ts"
export type { DeclaredBuild } from "./resources/builds/BuildManifest.ts"
export type { BuildDownload, WithBuildId } from "./resources/builds/Builds.ts"
export type { DeployedPrompt, DeployedResource, DeployedTool } from "./resources/builds/Deployments.ts"
export type { Completion } from "./resources/builds/McpEntries.ts"
export { readManifest } from "./resources/builds/Meta.ts"
export type { NewBuild, Upload, Uploaded } from "./resources/builds/Upload.ts"
export { matchUri, readVariables } from "./resources/builds/UriTemplate.ts"
export { DomainCertificates, type OpenCertificate } from "./resources/domains/DomainCertificates.ts"
export type { Verification } from "./resources/domains/Domains.ts"
export { domainsLayer } from "./resources/domains/DomainsConfig.ts"
export { defaultContentType } from "./resources/files/ContentType.ts"
export type { FileLink } from "./resources/files/FileLinks.ts"
export { type Content, type NewFile, type OpenFile, simpleUploadBytesMax } from "./resources/files/Files.ts"
export type { NewUpload } from "./resources/files/Uploads.ts"
export { ProjectName } from "./resources/projects/Project.ts"
export type { ContextMetadata } from "./resources/secrets/ContextVariable.ts"
export {
  type ContextVariableChange,
  contextValueBytesMax,
  contextVariablesMax,
  type NewContextVariable
} from "./resources/secrets/ContextVariables.ts"
export { ProjectSecrets } from "./resources/secrets/ProjectSecrets.ts"
export type { Called } from "./runtime/control/Calls.ts"
export type { ReplayBuild } from "./runtime/control/ReplayMatch.ts"
export type { CancelQuery } from "./runtime/control/RunControl.ts"
export type { RunQuery } from "./runtime/control/RunQuery.ts"
export type { TransactionalEvent } from "./runtime/dispatch/HostTransactions.ts"
export type { EvaluationHooks } from "./runtime/evaluation/Evaluations.ts"
export type { OnceRequest, Publication } from "./runtime/events/EventLog.ts"
export { toCallbackTask } from "./runtime/execution/CallbackTask.ts"
export type { CallDifference } from "./runtime/execution/ReplayedCalls.ts"
export type { RunEnd } from "./runtime/execution/RunRecorder.ts"
export { type ReplayReport, type ResultDifference, replayRecording } from "./runtime/execution/replayRecording.ts"
export { StreamHub } from "./runtime/streams/StreamHub.ts"
export type { StreamQuery, WatchedEvent } from "./runtime/streams/Streams.ts"
export type { EndReason, MessageBatch, Subscription, TakeResult } from "./runtime/streams/Subscription.ts"
export type { GuestInput, GuestOutput, HostInput, HostOutput } from "./runtime/svc/host/HostSchema.ts"
export {
  ClientRefused,
  type McpLogLevel,
  type McpRequest,
  type ModelClient,
  mcpLogLevels
} from "./runtime/svc/ModelClient.ts"
export type { SvcMethods } from "./runtime/svc/SvcMethods.ts"
export { McpSessions, type SessionRef } from "./runtime/webhooks/McpSessions.ts"
export {
  type PartialArgument,
  type ToolAddress,
  type ToolAnswer,
  type ToolService,
  Tools
} from "./runtime/webhooks/Tools.ts"
export type { WebhookAnswer, WebhookCall } from "./runtime/webhooks/WebhookCall.ts"
export type { ApiKeyChange, NewApiKey } from "./tenants/access/ApiKeys.ts"
export { apiKeyRequired, forbidden, requirePermission } from "./tenants/access/Caller.ts"
export { ConsoleSessions } from "./tenants/access/ConsoleSessions.ts"
export { Credentials } from "./tenants/access/Credentials.ts"
export { allows, fullPermissions, parsePermissions, readable } from "./tenants/access/Permission.ts"
export type { NewServiceKey, ShownServiceKey } from "./tenants/access/ServiceKeys.ts"
export type { NewSession, ShownSession } from "./tenants/access/Sessions.ts"
export { defaultPlans } from "./tenants/orgs/Plan.ts"
export type { AdmissionLimits } from "./tenants/orgs/Provisioning.ts"
export type { NewOrg, OrgChange } from "./tenants/orgs/Tenants.ts"
