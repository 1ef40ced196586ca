/** The face for host applications: one call starts Weft, and everything in it is promises and plain values. */
export type {
  Alert,
  AlertAction,
  AlertCondition,
  AlertNotification,
  AlertTest,
  AlertWithSecret,
  NewAlert
} from "./alerts.ts"
export type { AuditAction } from "./auditAction.ts"
export type { Canary, CanarySide, DeployOptions, NewCanary } from "./canary.ts"
export type { BuildCapabilities, ComparedBuild, DeployPolicy, DeployRequest } from "./capabilities.ts"
export { createWeft } from "./createWeft.ts"
export type { DeadLetter, DeadLetterPass } from "./deadLetterRecords.ts"
export type {
  AuditQuery,
  Called,
  CancelQuery,
  DeadLetterQuery,
  DeadLetterSelection,
  DeliveryQuery,
  EnvHandle,
  NewBuild,
  NewCall,
  NewEvent,
  NewPause,
  NewServiceKey,
  NewSession,
  RunQuery
} from "./Env.ts"
export { type ErrorCode, errorCodes, WeftError } from "./errors.ts"
export type { Capabilities, Evaluated, EvaluateOptions } from "./evaluate.ts"
export {
  type CallingRun,
  type GuestFunction,
  type GuestFunctions,
  type HostCall,
  type HostFunction,
  type HostFunctionOptions,
  type HostFunctions,
  HostRefused,
  hostFunction,
  type StandardSchema
} from "./hostFunction.ts"
export type { NewOperation, Operation, OperationFilter } from "./operationRecords.ts"
export type { Preview, PreviewOptions, ProjectPreviews } from "./previews.ts"
export type {
  ActivityEvent,
  ActivityOfRun,
  ApiKey,
  AuditEntry,
  Build,
  CompletedToken,
  Domain,
  Env,
  Event,
  Json,
  LogEntry,
  Org,
  Page,
  PageOptions,
  Pause,
  PauseState,
  Permissions,
  Project,
  Run,
  RunStats,
  RunStep,
  RunSteps,
  RunWait,
  Schedule,
  Secret,
  ServiceKey,
  Session,
  StoredFile,
  Usage,
  UsageOf,
  Waiting
} from "./records.ts"
export type { Percentiles, RunCounts, RunSeries, SeriesQuery } from "./series.ts"
export type { ListenOptions, TenantHandle, TenantName, Weft } from "./Weft.ts"
export type {
  HttpOptions,
  LimitOptions,
  MasterKey,
  McpOptions,
  NewTenantTerms,
  PlanLimits,
  PlanName,
  ProvisioningOptions,
  WeftOptions
} from "./WeftOptions.ts"
