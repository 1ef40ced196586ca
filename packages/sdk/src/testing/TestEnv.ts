/** Functions in plain tests: each call is a run, with a `svc` that works in memory and records its calls. */
import type { Event } from "../Event.ts"
import type { Files } from "../Files.ts"
import type { HostFakes } from "../Host.ts"
import type { ResourceRequest } from "../McpResult.ts"
import type { Meta } from "../Meta.ts"
import type { Caller, RunFacts } from "../Svc.ts"
import type { Tick } from "../Tick.ts"
import type { Project } from "./exported.ts"
import type { Failure } from "./failures.ts"
import type { Contents } from "./MemoryFiles.ts"
import type { SvcFakes } from "./operations.ts"
import type { Records } from "./Records.ts"
import type { TestRequest } from "./requests.ts"

export interface TestOptions {
  /** The secrets of the project. */
  readonly context?: Readonly<Record<string, string>>
  /** Existing files by path. */
  readonly files?: Contents
  /** Files of the build, by name. */
  readonly assets?: Contents
  /**
   * Exports of the build, `import * as project from "../src/index.ts"`. `svc.invoke` needs them. With them, calls and
   * schedules of unknown functions are refused.
   */
  readonly functions?: Project
  /** Fakes of host functions. A call rejects with the error of its fake; other functions do not exist. */
  readonly host?: HostFakes
  /**
   * Fakes of host calls of `svc`, such as `{ "context.get": () => null }`. They replace the behaviour of the kit, which then
   * does not record the call.
   */
  readonly svc?: SvcFakes
  /** Responds to the requests of `fetch`. Without it, `fetch` rejects, as on a host without egress. */
  readonly fetch?: (request: Request) => Response | Promise<Response>
  /** Time of events, ticks and files, ISO 8601; 2026-01-01 by default. It does not change the code's own clock. */
  readonly now?: string
}

export interface RunOptions {
  /** Number of the attempt; 1 by default. */
  readonly attempt?: number
  /** Cancels the run when it aborts; `svc.signal` aborts as well. */
  readonly signal?: AbortSignal
  /** Other fields of `svc.run`. */
  readonly run?: Partial<RunFacts>
}

export interface CallerOptions extends RunOptions {
  /** The caller. By default null for open webhooks, otherwise an API key with all rights. */
  readonly caller?: Caller
}

export interface EventOptions<E extends Event> extends RunOptions {
  /** Event type; by default the only one that the function handles. */
  readonly type?: E["event_type"]
  /** Other fields of the event. */
  readonly event?: Partial<Omit<Event, "event_type" | "event_data">>
}

/** Type of a value after conversion through JSON. */
export type Stored<A> = unknown extends A
  ? unknown
  : A extends undefined
    ? null
    : A extends { toJSON(): infer Json }
      ? Json
      : A extends object
        ? { [Key in keyof A]: A[Key] extends undefined ? undefined : Stored<A[Key]> }
        : A

/** A run that has ended. */
export interface TestRun<Result> extends Records {
  readonly run: RunFacts
  readonly status: "succeeded" | "failed" | "cancelled"
  /** Result of the function, converted through JSON; null unless it succeeded. */
  readonly result: Result | null
  /** Error of the function; null unless it failed. */
  readonly error: Failure | null
}

export interface TestAnswer extends TestRun<unknown> {
  /** Response to the caller of the webhook; 500 if the function failed. */
  readonly response: Response
}

/** A function under test. `svc` is `never`, so that functions with any type of `svc` are accepted. */
interface Fn<In, Result> {
  (input: In, svc: never): Result | Promise<Result>
  readonly meta?: Meta
}

/** An environment in memory, whose files persist between runs. Failed runs do not reject. */
export interface TestEnv {
  /** The files of the environment. */
  readonly files: Files
  /** Runs a handler for an event with this data. */
  readonly event: <E extends Event, Result>(
    fn: Fn<E, Result>,
    data: NoInfer<E["event_data"]>,
    options?: EventOptions<NoInfer<E>>
  ) => Promise<TestRun<Stored<Result>>>
  /** Runs a handler for an event with any data, to test invalid events. */
  readonly deliver: <Result>(
    fn: Fn<never, Result>,
    event: Partial<Event> & Pick<Event, "event_type" | "event_data">,
    options?: RunOptions
  ) => Promise<TestRun<Stored<Result>>>
  /** Runs a function that handles batches, for events with these data. */
  readonly batch: <E extends Event, Result>(
    fn: Fn<ReadonlyArray<E>, Result>,
    data: ReadonlyArray<NoInfer<E["event_data"]>>,
    options?: EventOptions<NoInfer<E>>
  ) => Promise<TestRun<Stored<Result>>>
  /** Runs a function of a schedule. */
  readonly tick: <Result>(
    fn: Fn<Tick, Result>,
    tick?: Partial<Tick>,
    options?: RunOptions
  ) => Promise<TestRun<Stored<Result>>>
  /** Sends a request to a webhook. */
  readonly request: (fn: Fn<never, unknown>, request?: TestRequest, options?: CallerOptions) => Promise<TestAnswer>
  /** Calls a tool. */
  readonly tool: <Args, Result>(
    fn: Fn<Args, Result>,
    args: NoInfer<Args>,
    options?: CallerOptions
  ) => Promise<TestRun<Stored<Result>>>
  /** Reads a resource. `params` are the values of the variables of its template. */
  readonly resource: <Result>(
    fn: Fn<ResourceRequest, Result>,
    request: Partial<ResourceRequest>,
    options?: CallerOptions
  ) => Promise<TestRun<Stored<Result>>>
  /** Gets a prompt. */
  readonly prompt: <Args, Result>(
    fn: Fn<Args, Result>,
    args: NoInfer<Args>,
    options?: CallerOptions
  ) => Promise<TestRun<Stored<Result>>>
  /** Calls a function with its arguments, as `svc.call` does. `svc` is a global. */
  readonly call: <Args extends ReadonlyArray<unknown>, Result>(
    fn: (...args: Args) => Result | Promise<Result>,
    args: NoInfer<Args>,
    options?: RunOptions
  ) => Promise<TestRun<Stored<Result>>>
}
