export { type EndpointPermission, mayCover, permissionOf, requires } from "./access/EndpointPermission.ts"
export { type PermittedEndpoint, permittedEndpoints } from "./access/PermittedEndpoints.ts"
export { hasSecretResponse, secretResponse } from "./access/SecretResponse.ts"
export { ErrorBody, List, type Listing, Meta, meta, Pagination, Single } from "./envelope/Envelope.ts"
export { FileList } from "./envelope/FileList.ts"
export { currentRequestId, currentTimestamp } from "./envelope/RequestInfo.ts"
export { StepList } from "./envelope/StepList.ts"
export { type ErrorCode, errorStatus, internalMessage, retryAfterOutageSeconds } from "./errors/Catalogue.ts"
export {
  BadRequestError,
  BusyError,
  CanaryActiveError,
  DeploymentRefusedError,
  DomainExistsError,
  DomainLimitReachedError,
  ForbiddenError,
  NotFoundError,
  NotReadyError,
  PausedError,
  PermissionEscalationError,
  PlanRequiredError,
  RateLimitedError,
  SessionLimitExceededError,
  TokenCompletedError,
  TokenExpiredError,
  UnauthorizedError,
  UnavailableError
} from "./errors/ErrorSchemas.ts"
export {
  CreatedServiceKeyRecord,
  CreatedSessionRecord,
  RevokedRecord,
  ServiceKeyInput,
  ServiceKeyRecord,
  SessionInput,
  SessionRecord
} from "./records/AccessRecords.ts"
export { AuditEntryRecord } from "./records/AuditRecords.ts"
export { ContextVariableRecord, ResealedRecord } from "./records/ContextRecords.ts"
export { DomainRecord, VerificationRecord } from "./records/DomainRecords.ts"
export { EvaluationRecord, toEvaluationRecord } from "./records/EvaluationRecord.ts"
export {
  FileLinkRecord,
  FileRecord,
  MultipartUploadRecord,
  UploadedFileRecord,
  UploadedPartRecord
} from "./records/FileRecords.ts"
export { BuildManifestRecord } from "./records/ManifestRecords.ts"
export { OperationRecord } from "./records/OperationRecords.ts"
export {
  RecordingRecord,
  RunRecordingRecord,
  toRecordingRecord,
  toRunRecordingRecord
} from "./records/RecordingRecords.ts"
export {
  ApiKeyRecord,
  BuildRecord,
  CancelledRunsRecord,
  CreatedApiKeyRecord,
  EnvRecord,
  EventHandlerRecord,
  EventRecord,
  HealthRecord,
  LogEntryRecord,
  NamedBuildRecord,
  OrgRecord,
  OwnEnvRecord,
  ProjectRecord,
  RunRecord,
  RunStatsRecord,
  RunUsageRecord,
  ScheduleRecord,
  StatusRecord,
  toRunRecord,
  UploadedBuildRecord
} from "./records/Records.ts"
export {
  CompletionInputRecord,
  CompletionRecord,
  NewReplRecord,
  ReplInputRecord,
  ReplRecord,
  ReplResultRecord,
  toReplResult
} from "./records/ReplRecords.ts"
export { DynamicScheduleRecord } from "./records/ScheduleRecords.ts"
export { EnvMessage, StreamMessage, WatchedMessage } from "./records/StreamRecords.ts"
export { CompletedTokenRecord, TokenCompletionInput } from "./records/TokenRecords.ts"
export { OrgUsageRecord } from "./records/UsageRecords.ts"
export { Instant, jsonLevelsMax, SentJson } from "./records/Wire.ts"
export { RunStepRecord, RunWaitRecord, toStepRecord, toWaitRecord, WaitingRecord } from "./records/WorkflowRecords.ts"
export { AdminApi } from "./routes/AdminApi.ts"
export { AuditApi, AuditEntryList, auditQuery } from "./routes/AuditApi.ts"
export { AdminAuthenticated, Authenticated, Enveloped, Permitted } from "./routes/Authentication.ts"
export { BuildsApi, TriggersApi, UploadFields } from "./routes/BuildsApi.ts"
export { CallsApi, startedRunResponses } from "./routes/CallsApi.ts"
export { ContextApi } from "./routes/ContextApi.ts"
export { DomainsApi } from "./routes/DomainsApi.ts"
export { EnvApi, EnvResponse } from "./routes/EnvApi.ts"
export { EvalApi } from "./routes/EvalApi.ts"
export { EventsApi } from "./routes/EventsApi.ts"
export { FilesApi } from "./routes/FilesApi.ts"
export { LinksApi } from "./routes/LinksApi.ts"
export { pageQuery, toPageRequest } from "./routes/PageQuery.ts"
export { ProjectsApi, projectParams } from "./routes/ProjectsApi.ts"
export { ReplApi } from "./routes/ReplApi.ts"
export { RunList, RunsApi } from "./routes/RunsApi.ts"
export { SchedulesApi } from "./routes/SchedulesApi.ts"
export { ServiceKeysApi } from "./routes/ServiceKeysApi.ts"
export { RevokedResponse, SessionsApi } from "./routes/SessionsApi.ts"
export { StatusApi } from "./routes/StatusApi.ts"
export { StreamsApi } from "./routes/StreamsApi.ts"
export { parseIsoDuration, TimeRange } from "./routes/TimeRange.ts"
export { WeftApi } from "./WeftApi.ts"
