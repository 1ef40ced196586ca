/** The entry point for authors of adapters: seams, the records that cross them, and rules that stores share. */
export type {
  BlobsAdapter,
  ClusterAdapter,
  DatabaseAdapter,
  EgressAdapter,
  SandboxAdapter,
  TracingAdapter
} from "./Adapters.ts"
export { toIdOrName } from "./foundation/IdOrName.ts"
export {
  AlertId,
  ApiKeyId,
  AuditId,
  BuildId,
  CanaryId,
  DeliveryId,
  DomainId,
  EventId,
  FileId,
  fresh,
  HandlerId,
  isUuid,
  isUuidShaped,
  leastIdAt,
  NodeId,
  OperationId,
  PauseId,
  ProjectId,
  ReplId,
  RunId,
  ScheduleId,
  ServiceKeyId,
  SessionId,
  StreamId,
  UploadId
} from "./foundation/Ids.ts"
export { InFlightMap } from "./foundation/InFlightMap.ts"
export { hasMoreContainers, isDeeper } from "./foundation/JsonDepth.ts"
export { fromJsonText, JsonText, toJsonText } from "./foundation/JsonText.ts"
export { countOfPage, pageBytesMax } from "./foundation/Page.ts"
export { stackless } from "./foundation/Stackless.ts"
export { isStorable } from "./foundation/StorableText.ts"
export { HostSpan, inHostSpan } from "./foundation/telemetry/HostSpan.ts"
export { NodeMetrics, type Reading } from "./foundation/telemetry/NodeMetrics.ts"
export { type AnySeries, Distribution, type HistogramSeries, type Series } from "./foundation/telemetry/Series.ts"
export { currentTraceparent } from "./foundation/telemetry/Spans.ts"
export { parseDuration } from "./foundation/time/Duration.ts"
export { iso, now, parseInstant, Timestamp } from "./foundation/time/Timestamp.ts"
export { utf8Encode, utf8Length } from "./foundation/Utf8.ts"
export { makeUuidV7, timeOfUuidV7 } from "./foundation/UuidV7.ts"
export type { DatabaseStores } from "./memory/MemoryStores.ts"
export {
  type BlobHash,
  type BlobPart,
  BlobStore,
  type ByteRange,
  type ServedAs,
  type WrittenBlob
} from "./platform/blobs/BlobStore.ts"
export { dispose, markDisposable } from "./platform/blobs/DisposableChunks.ts"
export { ActivityEvent } from "./platform/cluster/ActivityEvent.ts"
export { ClusterBus, ClusterUnusable, type Gap } from "./platform/cluster/ClusterBus.ts"
export {
  type ClusterTransport,
  TransportDisconnected,
  type TransportSignal
} from "./platform/cluster/ClusterTransport.ts"
export { ControlMessage } from "./platform/cluster/ControlMessage.ts"
export { busLagMax } from "./platform/cluster/LocalChannel.ts"
export { NodeSummary } from "./platform/cluster/NodeSummary.ts"
export { sharedClusterBus } from "./platform/cluster/SharedClusterBus.ts"
export { type TransportSession, transportSessions } from "./platform/cluster/TransportSessions.ts"
export { type AddressRange, classifyAddress, unmapIpv4 } from "./platform/egress/AddressRange.ts"
export {
  checkAddresses,
  checkDestination,
  checkLookup,
  checkSocketDestination,
  type Destination,
  isAllowedName,
  lookupRules,
  sendsTraceparent
} from "./platform/egress/DestinationCheck.ts"
export {
  Egress,
  EgressFailed,
  EgressRefused,
  type EgressRequest,
  type EgressResponse,
  type EgressUpload,
  type HeaderList,
  noEgress,
  ownHeaders
} from "./platform/egress/Egress.ts"
export {
  defaultEgressPolicy,
  type EgressPolicy,
  type EgressRules,
  egressRules
} from "./platform/egress/EgressPolicy.ts"
export type {
  EgressSocket,
  EgressWebSocket,
  SocketBytes,
  SocketRequest,
  TlsOptions,
  TlsSession,
  WebSocketEnd,
  WebSocketMessage,
  WebSocketRequest
} from "./platform/egress/EgressSocket.ts"
export { type IpAddress, type IpBlock, isWithin, parseBlock, parseIp } from "./platform/egress/IpAddress.ts"
export { parseTarget } from "./platform/egress/Target.ts"
export { CannotOpen, Keyring, type SealContext } from "./platform/encryption/Keyring.ts"
export { keyIdOf, Sealed } from "./platform/encryption/Sealed.ts"
export { SealedStore, type SealedValue } from "./platform/encryption/SealedStore.ts"
export { defaultLimits, Limits } from "./platform/sandbox/Limits.ts"
export { type Execution, Outcome, Usage } from "./platform/sandbox/Outcome.ts"
export type { RequestBody } from "./platform/sandbox/RequestBody.ts"
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
  type Quarantine,
  Sandbox,
  type SandboxStatus,
  SandboxUnavailable,
  type SourceText,
  type StoredZip,
  sessionNamespace
} from "./platform/sandbox/Sandbox.ts"
export type { EventLoop } from "./platform/turns/EventLoop.ts"
export { nextTurn, overloaded, Turns, takeTurn } from "./platform/turns/Turns.ts"
export type { WorkKind } from "./platform/turns/WorkKind.ts"
export { connectionKey, defaultTurnLimits, type TurnLimits, WorkScheduler } from "./platform/turns/WorkScheduler.ts"
export { AuditAction, AuditActorType, AuditEntry, AuditOutcome } from "./resources/audit/AuditEntry.ts"
export { type AuditFilter, AuditStore } from "./resources/audit/AuditStore.ts"
export { CurrentOrigin, type Origin } from "./resources/audit/Origin.ts"
export { artifactKey } from "./resources/builds/Artifacts.ts"
export { Build } from "./resources/builds/Build.ts"
export {
  BuildStore,
  type Deployment,
  type ProjectRetention,
  retainingFunctions
} from "./resources/builds/BuildStore.ts"
export { Canary, CanarySettings, CanaryState, listRedirected } from "./resources/builds/Canary.ts"
export { CanaryCounts, noCounts, SideCounts, sumCounts } from "./resources/builds/CanaryCounts.ts"
export {
  type CanaryDeployment,
  type CanaryEnd,
  type CanaryReport,
  CanaryStore,
  canariesVersion,
  type KnownCanary
} from "./resources/builds/CanaryStore.ts"
export {
  Concurrency,
  Endpoint,
  EventHandler,
  endpointName,
  FunctionEntry,
  Manifest,
  Method,
  ScheduleEntry
} from "./resources/builds/Manifest.ts"
export { Completion, Prompt, PromptArgument, Resource, Tool, ToolAnnotations } from "./resources/builds/McpEntries.ts"
export { noRetry, RetryPolicy } from "./resources/builds/RetryPolicy.ts"
export {
  type CertificateOrder,
  Certificates,
  CertificateUnavailable,
  type IssuedCertificate
} from "./resources/domains/Certificates.ts"
export { Dns, DnsUnavailable } from "./resources/domains/Dns.ts"
export { Domain, DomainRoute, DomainStatus } from "./resources/domains/Domain.ts"
export { DomainCertificate } from "./resources/domains/DomainCertificate.ts"
export { type Claimed, type DomainClaim, DomainStore } from "./resources/domains/DomainStore.ts"
export { HostName, hostOfHeader, parseHostName } from "./resources/domains/HostName.ts"
export { Routing, type RoutingTarget, RoutingUnavailable } from "./resources/domains/Routing.ts"
export { formatWhole } from "./resources/files/Checksum.ts"
export { File } from "./resources/files/File.ts"
export { type FileFilter, FileStore, type Stored, type StoreTerms } from "./resources/files/FileStore.ts"
export { MultipartUpload, UploadedPart } from "./resources/files/MultipartUpload.ts"
export { ScrubStore, type ScrubTarget } from "./resources/files/ScrubStore.ts"
export { checkStore, exceedsLimit, type StoreFacts, toReplacement } from "./resources/files/StoreRules.ts"
export { Preview } from "./resources/previews/Preview.ts"
export { type PreviewLimits, type PreviewParts, PreviewStore } from "./resources/previews/PreviewStore.ts"
export { Project } from "./resources/projects/Project.ts"
export { ProjectStore } from "./resources/projects/ProjectStore.ts"
export { RemovedProject } from "./resources/projects/RemovedProject.ts"
export { type Cancelled, Schedule, type ScheduleChange, type ScheduleRefusal } from "./resources/schedules/Schedule.ts"
export { ScheduleStore } from "./resources/schedules/ScheduleStore.ts"
export { mergeStaticSchedules } from "./resources/schedules/StaticSchedules.ts"
export { ContextVariable, contextPlace } from "./resources/secrets/ContextVariable.ts"
export { type ContextChange, ContextVariableStore } from "./resources/secrets/ContextVariableStore.ts"
export { Event } from "./runtime/events/Event.ts"
export { EventStore } from "./runtime/events/EventStore.ts"
export { smallDataBytes, takeWithinBudget } from "./runtime/journal/ClaimData.ts"
export {
  type Claim,
  type ClaimRequest,
  type ClaimResult,
  type FollowUp,
  type JournalEntry,
  JournalStore,
  type Lease,
  type LocalRunSet,
  type PendingWork,
  type PurgedFunction,
  type Suspension
} from "./runtime/journal/JournalStore.ts"
export type { RunCount, RunCountBatch } from "./runtime/journal/RunCountBatch.ts"
export {
  type Admission,
  type AdmissionOutcome,
  AdmissionStore,
  type AdmittedDelivery,
  cancelledMax,
  type EarlierRequest,
  joinReplaced,
  type Replaced
} from "./runtime/runs/AdmissionStore.ts"
export {
  Alert,
  AlertAction,
  AlertCondition,
  AlertNotice,
  type AlertPayload,
  AlertState,
  type Attempted,
  attempted,
  describeCondition,
  evaluate,
  type Verdict
} from "./runtime/runs/Alert.ts"
export { AlertStore, type Backlog } from "./runtime/runs/AlertStore.ts"
export {
  cancelledByMessage,
  cancelRun,
  continueRun,
  loseRun,
  replacedMessage,
  startRun
} from "./runtime/runs/Attempt.ts"
export { formatChildEnd, type LastRun } from "./runtime/runs/ChildRun.ts"
export {
  type DeadLetter,
  type DeadLetterFilter,
  type DeadLetterPosition,
  type DeadLetterRef,
  DeadLetterStore,
  listedResultMax,
  type Redrive
} from "./runtime/runs/DeadLetterStore.ts"
export { Delivery } from "./runtime/runs/Delivery.ts"
export type {
  DeliveryPosition,
  DeliverySelection,
  DiscardedDelivery,
  DiscardResult
} from "./runtime/runs/DeliverySelection.ts"
export { DeliveryStore } from "./runtime/runs/DeliveryStore.ts"
export {
  errorMarks,
  errorSeparator,
  errorTextMax,
  readErrorText,
  toErrorPattern
} from "./runtime/runs/ErrorText.ts"
export * from "./runtime/runs/EventBatch.ts"
export {
  EventValues,
  formatOutcome,
  isAwaited,
  isTooLargeOutcome,
  keyInEvent,
  keyOfMatch,
  type MatchKey
} from "./runtime/runs/EventMatch.ts"
export {
  debounce,
  decideFlow,
  type FlowRule,
  type FlowState,
  flowKeysOf,
  readFlowState,
  type StoredFlowState
} from "./runtime/runs/FlowRules.ts"
export { type Group, parkedAt, roomFor } from "./runtime/runs/Group.ts"
export { LatencyHistogram } from "./runtime/runs/LatencyHistogram.ts"
export { MinuteCounts } from "./runtime/runs/MinuteCounts.ts"
export {
  addFailures,
  formatOf,
  Operation,
  OperationFailure,
  OperationFilter,
  OperationKind,
  OperationOptions,
  type OperationRef,
  OperationScope,
  OperationState,
  operationFormat,
  StoredOperation
} from "./runtime/runs/Operation.ts"
export type { OperationStep } from "./runtime/runs/OperationStep.ts"
export {
  type ListedOperations,
  type OperationSelection,
  OperationStore,
  type OperationTarget
} from "./runtime/runs/OperationStore.ts"
export { covers, findPause, formatTarget, Pause, pausedAt, versionOf } from "./runtime/runs/Pause.ts"
export { type PausedRuns, PauseStore, type ReleaseResult } from "./runtime/runs/PauseStore.ts"
export {
  RecordingContents,
  RecordingSummary,
  type RunRecording,
  recordingPlace,
  StoredRecording
} from "./runtime/runs/Recording.ts"
export { type RecordingFilter, RecordingStore } from "./runtime/runs/RecordingStore.ts"
export { LogEntry, Run, RunStats, RunStatus, RunType } from "./runtime/runs/Run.ts"
export { RunActivity, type RunSummary } from "./runtime/runs/RunActivity.ts"
export {
  type CancelledRun,
  type Fork,
  type OperationProgress,
  type Renewal,
  RunControlStore,
  type RunLog,
  type RunRef,
  type RunSelection
} from "./runtime/runs/RunControlStore.ts"
export { countedMax, type RunFilter, RunStore } from "./runtime/runs/RunStore.ts"
export { FunctionSeries, Percentiles, RunCounts, RunSeries, SeriesPoint } from "./runtime/runs/Series.ts"
export { type SeriesKey, type SeriesSelection, SeriesStore } from "./runtime/runs/SeriesStore.ts"
export { type Throttled, type ThrottleState, throttle } from "./runtime/runs/Throttle.ts"
export { type Tick, TickStore } from "./runtime/runs/TickStore.ts"
export { formatEvent } from "./runtime/runs/Trigger.ts"
export { explainDelivery, type PendingDelivery, type PendingFilter, Wait } from "./runtime/runs/WaitReason.ts"
export {
  countSteps,
  emptyHistory,
  findSleep,
  formatWaiting,
  type History,
  hasSecretResult,
  lostNode,
  type OpenWait,
  parseWaiting,
  RequestKind,
  StepRecord,
  type Waiting,
  WaitingFor,
  WaitRecord
} from "./runtime/runs/Workflow.ts"
export * from "./runtime/runs/WorkflowStore.ts"
export {
  formatCompletion,
  isOpen,
  type TokenRef,
  tokenPlace,
  WorkflowToken
} from "./runtime/runs/WorkflowToken.ts"
export { type FoundToken, type TokenCompletion, WorkflowTokenStore } from "./runtime/runs/WorkflowTokenStore.ts"
export {
  type HistoryEntry,
  latestEntries,
  type StoredEvent,
  type StoredRun,
  toActivity
} from "./runtime/streams/ActivityHistory.ts"
export { Message, type Position } from "./runtime/streams/Message.ts"
export { type SinceQuery, type StoredActivity, StreamStore, scannedMax } from "./runtime/streams/StreamStore.ts"
export { ApiKey } from "./tenants/access/ApiKey.ts"
export { ApiKeyStore } from "./tenants/access/ApiKeyStore.ts"
export { Action, PermissionMap, pathless, type ResourceType, validActions } from "./tenants/access/Permission.ts"
export { ServiceKey } from "./tenants/access/ServiceKey.ts"
export { ServiceKeyStore } from "./tenants/access/ServiceKeyStore.ts"
export { Session } from "./tenants/access/Session.ts"
export { SessionStore } from "./tenants/access/SessionStore.ts"
export { type Month, monthOf } from "./tenants/orgs/Month.ts"
export { RateStore } from "./tenants/orgs/RateStore.ts"
export { EnvPreview, Slug } from "./tenants/orgs/Tenant.ts"
export { firstHookJob, nextHookJob, TenantHookJob } from "./tenants/orgs/TenantHookJob.ts"
export { TenantStore } from "./tenants/orgs/TenantStore.ts"
export { RunUsage, UsageStore } from "./tenants/orgs/UsageStore.ts"
export type { Stores } from "./Weft.ts"
