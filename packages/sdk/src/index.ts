export {
  type BatchHandler,
  type BatchMeta,
  type BatchOptions,
  batchHandler,
  type DurableBatchHandler,
  type DurableBatchSvc,
  durableBatchHandler
} from "./BatchHandler.ts"
export { type Callable, type CallTerms, callable } from "./Callable.ts"
export {
  type AttemptOptions,
  type DurableCallable,
  type DurableHandler,
  type DurableMeta,
  type DurableOptions,
  type DurableSvc,
  durable,
  durableCallable,
  type EventWait,
  type FanOutOptions,
  type InvokeOptions,
  type Saga,
  type StepContext,
  type StepOptions,
  type Token,
  type TokenAnswer,
  type TokenOptions,
  type Undo,
  type WithoutSvc
} from "./Durable.ts"
export { defineEvents, type Kit } from "./defineEvents.ts"
export type {
  AnyEvents,
  Catalogue,
  CheckedPattern,
  Event,
  EventsIn,
  EventsOf,
  Known,
  KnownPattern,
  Matched,
  PathOf
} from "./Event.ts"
export type { FailureEvent, RunFailure } from "./Failure.ts"
export type { Asset, Content, FileData, Files, StoredFile } from "./Files.ts"
export type {
  Batch,
  CancelOn,
  Debounce,
  Dedupe,
  Expression,
  FlowTerms,
  Rate,
  Singleton,
  StartTerms
} from "./FlowControl.ts"
export { type Handler, type HandlerMeta, type HandlerOptions, handler } from "./Handler.ts"
export type { HostFace, HostFakes, HostFunctions } from "./Host.ts"
export type {
  PromptMessage,
  PromptResult,
  ResourceContents,
  ResourceLink,
  ResourceRequest,
  ResourceResult,
  ToolContent,
  ToolResult
} from "./McpResult.ts"
export type {
  Auth,
  BackgroundTerms,
  Completion,
  Concurrency,
  Cron,
  Duration,
  Endpoint,
  FailureTerms,
  JsonSchema,
  Meta,
  Method,
  PromptArgument,
  PromptMeta,
  Recording,
  ResourceMeta,
  Retry,
  Terms,
  ToolAnnotations,
  ToolMeta
} from "./Meta.ts"
export { type Prompt, type PromptOptions, prompt } from "./Prompt.ts"
export { type Resource, type ResourceOptions, resource } from "./Resource.ts"
export { NonRetryable, RetryAfter } from "./RetryErrors.ts"
export { type Scheduled, type ScheduleMeta, type ScheduleOptions, type Schedules, schedule } from "./Schedule.ts"
export type {
  InferInput,
  InferOutput,
  Issue,
  StandardJSONSchemaV1,
  StandardSchemaV1,
  Unchecked,
  Validation
} from "./StandardSchema.ts"
export type {
  AnyFunction,
  BatchSvc,
  Caller,
  EventSvc,
  GlobalSvc,
  LogLevel,
  NewEvent,
  PromptSvc,
  ResourceSvc,
  RunFacts,
  RunType,
  ScheduleSvc,
  Svc,
  ToolSvc,
  WebhookSvc
} from "./Svc.ts"
export type {
  McpElicited,
  McpElicitRequest,
  McpLogMessage,
  McpProgress,
  McpSample,
  McpSampleRequest,
  NewSchedule,
  Published,
  SvcOperations
} from "./SvcOperations.ts"
export type { Tick } from "./Tick.ts"
export { type Tool, type ToolFunctionMeta, type ToolOptions, type Tools, tool } from "./Tool.ts"
export type { Invalid } from "./validate.ts"
export {
  type AnyQuery,
  type Checked,
  type CheckedSvc,
  type Refusal,
  type Webhook,
  type WebhookMeta,
  type WebhookOptions,
  type Webhooks,
  webhook
} from "./Webhook.ts"
export type {
  CredentialFacts,
  Query,
  RequestAuth,
  WebhookRequest,
  WebhookResponse,
  WebhookResult
} from "./WebhookRequest.ts"
