/** What a run may ask for. Types only: the runtime gives the object. */
import type { AnyEvents, Catalogue, Event } from "./Event.ts"
import type { Asset, Content, Files } from "./Files.ts"
import type { HostFace, HostFunctions } from "./Host.ts"
import type { Duration } from "./Meta.ts"
import type { InferInput } from "./StandardSchema.ts"
import type { Tick } from "./Tick.ts"
import type { Query, WebhookRequest } from "./WebhookRequest.ts"

/** `event` and `schedule` name what set the run off; `call` is a webhook, a tool or a call; `run` was started by hand. */
export type RunType = "call" | "event" | "schedule" | "run" | "eval" | "repl"

export interface RunFacts {
  readonly run_id: string
  readonly stream_id: string
  readonly env_id: string
  readonly project_id: string
  readonly build_id: string
  readonly run_type: RunType
  /** From 1. */
  readonly attempt: number
  /** The first attempt's run; of a first attempt the run that caused it, or null. */
  readonly origin_run_id: string | null
}

/** Who called a webhook or a tool. */
export interface Caller {
  readonly type: "api-key" | "service-key" | "session" | "host"
  readonly id: string | null
  /** Actions by resource, such as `{"webhook:greeter": ["execute"]}`. */
  readonly permissions: Readonly<Record<string, ReadonlyArray<string>>>
  /** What was attached to the service key or session. */
  readonly metadata: unknown
}

/** An event to publish. */
export type NewEvent<Events extends Catalogue = AnyEvents> = {
  readonly [Type in keyof Events & string]: {
    readonly type: Type
    readonly data: InferInput<Events[Type]>
    /** A stream of its own unless given. */
    readonly stream_id?: string
    /** At most 365 days. */
    readonly delay?: Duration
  }
}[keyof Events & string]

export interface Published {
  readonly event_id: string
  readonly stream_id: string
  readonly event_type: string
}

export interface NewSchedule {
  /** `ns/var`, or `project:ns/var`. */
  readonly fn: string
  readonly args?: ReadonlyArray<unknown>
  /** A cron expression, an ISO 8601 timestamp (once), or a duration (once, after it). */
  readonly schedule: string
  /** Of a cron expression; UTC by default. */
  readonly timezone?: string
}

export type LogLevel = "debug" | "info" | "warn" | "error"

/** A function that others call: `never` for its arguments means any. */
export type AnyFunction = (...args: ReadonlyArray<never>) => unknown

/** A list of arguments, or the only one. */
type ArgsOf<F extends AnyFunction> = AnyFunction extends F
  ? unknown
  : Parameters<F> | (Parameters<F> extends [infer Only, ...infer Rest] ? ([] extends Rest ? Only : never) : never)

/** What every function has. What is refused rejects with an error whose `name` says why, such as `BadRequest`. */
export interface Svc<Events extends Catalogue = AnyEvents> {
  readonly run: RunFacts
  /** Null unless a webhook or a tool was called with a credential. */
  readonly caller: Caller | null
  /** The secrets of the project. */
  readonly context: {
    /** Null when there is none. */
    get(key: string): Promise<string | null>
    all(): Promise<Readonly<Record<string, string>>>
  }
  readonly events: {
    /** Stored when it resolves. */
    publish(event: NewEvent<Events>): Promise<Published>
  }
  /**
   * Runs a function in the background. Stored when it resolves. With the type of the function its arguments are
   * checked: `svc.call<typeof charge>("billing/charge", [order])`.
   */
  call<F extends AnyFunction = AnyFunction>(
    fn: string,
    args?: ArgsOf<F>
  ): Promise<{ readonly event_id: string; readonly stream_id: string }>
  /** Calls a function of the same build within this run: `svc.invoke<typeof add>("main/add", [1, 2])`. */
  invoke<F extends AnyFunction = AnyFunction>(fn: string, args?: ArgsOf<F>): Promise<Awaited<ReturnType<F>>>
  readonly schedules: {
    create(schedule: NewSchedule): Promise<{ readonly schedule_id: string }>
    /** One schedule, or all that were created for a function. */
    cancel(schedule: { readonly id: string } | { readonly fn: string }): Promise<void>
  }
  /**
   * The functions of the host. They reject with `Invalid` for an input that is not as it must be, with `NotFound`,
   * `LimitExceeded`, `TimedOut` and `HostFailure`, and with errors of their own.
   */
  readonly host: HostFace<HostFunctions>
  readonly stream: {
    /** Tells those who watch the stream of the run now; nothing is stored. At most 64 KiB as JSON. */
    emit(data_type: string, payload?: unknown): Promise<void>
  }
  readonly files: Files
  /** A file of the build, or null. */
  asset(name: string): Promise<(Asset & Content) | null>
  readonly log: Readonly<Record<LogLevel, (message: unknown, data?: unknown) => void>>
  /** Aborted when the run is cancelled, its time is over, or the server stops. */
  readonly signal: AbortSignal
}

export interface EventSvc<Events extends Catalogue = AnyEvents> extends Svc<Events> {
  /** The event as it was published. */
  readonly event: Event
}

export interface ScheduleSvc<Events extends Catalogue = AnyEvents> extends EventSvc<Events> {
  readonly tick: Tick
}

export interface WebhookSvc<Events extends Catalogue = AnyEvents> extends Svc<Events> {
  /** The request as it came. */
  readonly request: WebhookRequest<unknown, Query>
}

export interface ToolSvc<Events extends Catalogue = AnyEvents> extends Svc<Events> {
  /** The arguments as they came. */
  readonly tool: unknown
}

/** What the global `svc` is: which of these there are depends on what set the run off. */
export interface GlobalSvc extends Svc {
  readonly event?: Event
  readonly tick?: Tick
  readonly request?: WebhookRequest<unknown, Query>
  readonly tool?: unknown
}
