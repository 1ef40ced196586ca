/** The services of a run. Types only: the runtime provides the object. */
import type { AnyEvents, Catalogue, Event } from "./Event.ts"
import type { Asset, Content, Files } from "./Files.ts"
import type { HostFace, HostFunctions } from "./Host.ts"
import type { ResourceRequest } from "./McpResult.ts"
import type { Duration } from "./Meta.ts"
import type { InferInput } from "./StandardSchema.ts"
import type { SvcOperations } from "./SvcOperations.ts"
import type { Tick } from "./Tick.ts"
import type { Query, WebhookRequest } from "./WebhookRequest.ts"

/** Trigger of a run: `event`, `schedule`, `call` for a webhook, a tool or a call, `run` for a manual start. */
export type RunType = "call" | "event" | "schedule" | "run" | "eval" | "repl"

export interface RunFacts {
  readonly run_id: string
  readonly stream_id: string
  readonly env_id: string
  readonly project_id: string
  readonly build_id: string
  readonly run_type: RunType
  /** Number of the attempt, from 1. */
  readonly attempt: number
  /** The run of the first attempt. For a first attempt, the run that caused it, or null. */
  readonly origin_run_id: string | null
}

/** The caller of a webhook or a tool. */
export interface Caller {
  readonly type: "api-key" | "service-key" | "session" | "host"
  readonly id: string | null
  /** Actions by resource, for example `{"webhook:greeter": ["execute"]}`. */
  readonly permissions: Readonly<Record<string, ReadonlyArray<string>>>
  /** Metadata of the service key or session. */
  readonly metadata: unknown
}

/** An event to publish. */
export type NewEvent<Events extends Catalogue = AnyEvents> = {
  readonly [Type in keyof Events & string]: {
    readonly type: Type
    readonly data: InferInput<Events[Type]>
    /** A new stream by default. */
    readonly stream_id?: string
    /** At most 365 days. */
    readonly delay?: Duration
  }
}[keyof Events & string]

export type LogLevel = "debug" | "info" | "warn" | "error"

/** A function with any arguments. */
export type AnyFunction = (...args: ReadonlyArray<never>) => unknown

/** A list of arguments, or the only argument. */
export type ArgsOf<F extends AnyFunction> = AnyFunction extends F
  ? unknown
  : Parameters<F> | (Parameters<F> extends [infer Only, ...infer Rest] ? ([] extends Rest ? Only : never) : never)

/**
 * Services of every function. A refused call rejects with an error whose `name` is the reason, such as `BadRequest`.
 *
 * The methods of `SvcOperations` derive from the runtime's table of operations.
 */
export interface Svc<Events extends Catalogue = AnyEvents> extends SvcOperations<Events> {
  readonly run: RunFacts
  /** The caller of a webhook or tool with a credential, else null. */
  readonly caller: Caller | null
  /** Calls a function of the same build in this run: `svc.invoke<typeof add>("main/add", [1, 2])`. */
  invoke<F extends AnyFunction = AnyFunction>(fn: string, args?: ArgsOf<F>): Promise<Awaited<ReturnType<F>>>
  /**
   * The functions of the host. They reject with `Invalid` for invalid input, with `NotFound`, `LimitExceeded`,
   * `TimedOut` and `HostFailure`, and with their own errors.
   */
  readonly host: HostFace<HostFunctions>
  readonly files: Files
  /** Returns a file of the build, or null. */
  asset(name: string): Promise<(Asset & Content) | null>
  readonly log: Readonly<Record<LogLevel, (message: unknown, data?: unknown) => void>>
  /** Signal that aborts if the run is cancelled or times out, or the server stops. */
  readonly signal: AbortSignal
}

export interface EventSvc<Events extends Catalogue = AnyEvents> extends Svc<Events> {
  /** The event as published. */
  readonly event: Event
}

export interface BatchSvc<Events extends Catalogue = AnyEvents> extends Svc<Events> {
  /** The events as published. */
  readonly batch: ReadonlyArray<Event>
}

export interface ScheduleSvc<Events extends Catalogue = AnyEvents> extends EventSvc<Events> {
  readonly tick: Tick
}

export interface WebhookSvc<Events extends Catalogue = AnyEvents> extends Svc<Events> {
  /** The request before validation. */
  readonly request: WebhookRequest<unknown, Query>
}

export interface ToolSvc<Events extends Catalogue = AnyEvents> extends Svc<Events> {
  /** The arguments before validation. */
  readonly tool: unknown
}

export interface ResourceSvc<Events extends Catalogue = AnyEvents> extends Svc<Events> {
  readonly resource: ResourceRequest
}

export interface PromptSvc<Events extends Catalogue = AnyEvents> extends Svc<Events> {
  /** The arguments. */
  readonly prompt: Readonly<Record<string, string>>
}

/** Type of the global `svc`. The trigger of the run determines which optional properties exist. */
export interface GlobalSvc extends Svc {
  readonly event?: Event
  readonly batch?: ReadonlyArray<Event>
  readonly tick?: Tick
  readonly request?: WebhookRequest<unknown, Query>
  readonly tool?: unknown
  readonly resource?: ResourceRequest
  readonly prompt?: Readonly<Record<string, string>>
}
