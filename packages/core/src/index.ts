/**
 * The entry point for host applications: the running instance, host functions, configuration and errors.
 *
 * Hosts that need only the defaults use the package `weft`, which exports all of this and `createWeft`.
 */
export { localCluster } from "./Adapters.ts"
export type { HostAlerts } from "./embed/HostAlerts.ts"
export type { HostAudit, HostAuditEntry } from "./embed/HostAudit.ts"
export type { HostServiceKey, HostServiceKeys, HostSession, HostSessions } from "./embed/HostCredentials.ts"
export type { HostEnvServices, WeftEnv } from "./embed/HostEnv.ts"
export type { HostFiles } from "./embed/HostFiles.ts"
export type { HostProvisioning } from "./embed/HostProvisioning.ts"
export type { HostEvent, HostRun, HostStep } from "./embed/HostRecords.ts"
export type { HostCalled, HostRuns, HostSteps } from "./embed/HostRuns.ts"
export type { SnippetSignal } from "./embed/HostSnippets.ts"
export type { HostStreams } from "./embed/HostStreams.ts"
export type { WeftTenant } from "./embed/HostTenant.ts"
export {
  BadRequest,
  Busy,
  CanaryActive,
  ContentDamaged,
  DeploymentRefused,
  DomainExists,
  DomainLimitReached,
  Forbidden,
  FunctionFailed,
  NotFound,
  Paused,
  PermissionEscalation,
  PlanRequired,
  RateLimited,
  SessionLimitExceeded,
  StoreUnavailable,
  Taken,
  TokenCompleted,
  TokenExpired,
  Unauthorized
} from "./foundation/Errors.ts"
export { EnvId, OrgId } from "./foundation/Ids.ts"
export { firstPage, type Page, PageRequest } from "./foundation/Page.ts"
export { EgressPolicyInvalid, type EgressRules } from "./platform/egress/EgressPolicy.ts"
export { MasterKeyMissing } from "./platform/encryption/KeyCheck.ts"
export { KeyRotation } from "./platform/encryption/KeyRotation.ts"
export { MasterKeyInvalid, type MasterKeys } from "./platform/encryption/Keyring.ts"
export { type AuditConfig, AuditLog } from "./resources/audit/AuditLog.ts"
export type { BuildCapabilities } from "./resources/builds/BuildCapabilities.ts"
export type { ComparedCapabilities } from "./resources/builds/BuildManifest.ts"
export { Builds } from "./resources/builds/Builds.ts"
export type { NewCanary } from "./resources/builds/Canary.ts"
export type { DeployOptions } from "./resources/builds/Deploy.ts"
export type { DeployPolicy, DeployRequest } from "./resources/builds/DeployPolicy.ts"
export { DomainRoutes } from "./resources/domains/DomainRoutes.ts"
export { Domains } from "./resources/domains/Domains.ts"
export type { DomainsConfig } from "./resources/domains/DomainsConfig.ts"
export { localZones, type ZonesConfig, ZonesInvalid } from "./resources/domains/DomainZones.ts"
export { FileLinks } from "./resources/files/FileLinks.ts"
export { Files } from "./resources/files/Files.ts"
export { Uploads } from "./resources/files/Uploads.ts"
export type { NewPreview, Preview } from "./resources/previews/Preview.ts"
export { type PreviewStatus, Previews } from "./resources/previews/Previews.ts"
export { Projects } from "./resources/projects/Projects.ts"
export { Schedules } from "./resources/schedules/Schedules.ts"
export { ContextVariables } from "./resources/secrets/ContextVariables.ts"
export { SecretUnreadable } from "./resources/secrets/ProjectSecrets.ts"
export type { OrgUsage } from "./resources/usage/OrgUsage.ts"
export { OrgUsages } from "./resources/usage/OrgUsages.ts"
export type { ActionResult, AlertHook } from "./runtime/control/AlertNotifier.ts"
export {
  type AlertChange,
  Alerts,
  type AlertTest,
  type AlertWithSecret,
  type NewAlert
} from "./runtime/control/Alerts.ts"
export { BuildRuns, type NewBuildRun } from "./runtime/control/BuildRuns.ts"
export { Calls, type NewCall } from "./runtime/control/Calls.ts"
export { Canaries, type CanarySide, type CanaryStatus } from "./runtime/control/Canaries.ts"
export { type Check, CheckStatus } from "./runtime/control/Check.ts"
export type { DeadLetterQuery, DeadLetterSelection } from "./runtime/control/DeadLetterQuery.ts"
export {
  type DeadLetterPass,
  DeadLetters,
  type ListedLetter,
  type RedriveSelection
} from "./runtime/control/DeadLetters.ts"
export { Deliveries } from "./runtime/control/Deliveries.ts"
export type { DeliveryQuery } from "./runtime/control/DeliveryQuery.ts"
export { Diagnosis } from "./runtime/control/Diagnosis.ts"
export { Nodes } from "./runtime/control/Nodes.ts"
export { type NewOperation, type OperationQuery, Operations } from "./runtime/control/Operations.ts"
export { type NewPause, type PauseState, Pauses } from "./runtime/control/Pauses.ts"
export { type RecordingQuery, Recordings } from "./runtime/control/Recordings.ts"
export { RunControl } from "./runtime/control/RunControl.ts"
export { RunStatistics, type SeriesQuery } from "./runtime/control/RunStatistics.ts"
export { Runs } from "./runtime/control/Runs.ts"
export { type CompletedToken, Tokens } from "./runtime/control/Tokens.ts"
export { type WaitingDelivery, type WaitingItem, Waits } from "./runtime/control/Waits.ts"
export { Dispatcher } from "./runtime/dispatch/Dispatcher.ts"
export { HostTransactions } from "./runtime/dispatch/HostTransactions.ts"
export type { Capabilities, SnippetFunction } from "./runtime/evaluation/Capabilities.ts"
export { Evaluations, type NewEvaluation } from "./runtime/evaluation/Evaluations.ts"
export { type CompletionInput, type NewRepl, Repl } from "./runtime/evaluation/Repl.ts"
export type { ReplEnd, ReplInput } from "./runtime/evaluation/ReplInputs.ts"
export type { Completion, ReplRecord } from "./runtime/evaluation/ReplSession.ts"
export { type NewSnippet, type SnippetEnd, Snippets } from "./runtime/evaluation/Snippets.ts"
export { Events, type NewEvent } from "./runtime/events/Events.ts"
export type { Alert, AlertPayload } from "./runtime/runs/Alert.ts"
export type { StreamsConfig } from "./runtime/streams/StreamHub.ts"
export { Streams } from "./runtime/streams/Streams.ts"
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
} from "./runtime/svc/host/HostFunction.ts"
export type { HostSchema, StandardSchema } from "./runtime/svc/host/HostSchema.ts"
export { HostFunctionInvalid } from "./runtime/svc/host/HostTable.ts"
export { Webhooks } from "./runtime/webhooks/Webhooks.ts"
export { ApiKeys } from "./tenants/access/ApiKeys.ts"
export { Caller, hostIdentity, type Identity } from "./tenants/access/Caller.ts"
export { ServiceKeys } from "./tenants/access/ServiceKeys.ts"
export { Sessions } from "./tenants/access/Sessions.ts"
export { DatabaseEmpty } from "./tenants/orgs/InstallationCheck.ts"
export { type Plan, PlanInvalid, PlanName, type PlanOverrides } from "./tenants/orgs/Plan.ts"
export { Plans } from "./tenants/orgs/Plans.ts"
export type { ProvisioningConfig, TenantTerms } from "./tenants/orgs/Provisioning.ts"
export { RateLimits } from "./tenants/orgs/RateLimits.ts"
export type { StartRefusal } from "./tenants/orgs/StartChecks.ts"
export { Env, Org, type Tenant } from "./tenants/orgs/Tenant.ts"
export type { TenantHooks } from "./tenants/orgs/TenantHookRunner.ts"
export { type TenantRequest, Tenants } from "./tenants/orgs/Tenants.ts"
export { layer, type RuntimeConfig, type StartOptions, start, type WeftInstance, type WeftServices } from "./Weft.ts"
