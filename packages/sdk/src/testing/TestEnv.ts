/** Functions in plain tests: each call is a run, with a `svc` that works in memory and writes down what is asked. */
import type { Event } from "../Event.ts"
import type { Files } from "../Files.ts"
import type { HostFakes } from "../Host.ts"
import type { Meta } from "../Meta.ts"
import type { Caller, RunFacts } from "../Svc.ts"
import type { Tick } from "../Tick.ts"
import type { Project } from "./exported.ts"
import type { Failure } from "./failures.ts"
import type { Contents } from "./MemoryFiles.ts"
import type { Records } from "./Records.ts"
import type { TestRequest } from "./requests.ts"

export interface TestOptions {
  /** The secrets of the project. */
  readonly context?: Readonly<Record<string, string>>
  /** Files that are there already, by path. */
  readonly files?: Contents
  /** Files of the build, by name. */
  readonly assets?: Contents
  /**
   * What the build exports, `import * as project from "../src/index.ts"`: for `svc.invoke`, and so that calls and
   * schedules of other functions are refused. Without it they are not.
   */
  readonly functions?: Project
  /** Stand in for functions of the host; what they throw, the call rejects with. The others are not there. */
  readonly host?: HostFakes
  /** Answers what functions `fetch`. Without it `fetch` rejects, as where a host allows none. */
  readonly fetch?: (request: Request) => Response | Promise<Response>
  /** What time it is, ISO 8601: for events, ticks and files, not for the code's own clock. 2026-01-01 by default. */
  readonly now?: string
}

export interface RunOptions {
  /** Which try it is; 1 by default. */
  readonly attempt?: number
  /** Stops the run when it is aborted: it ends as cancelled, and `svc.signal` is aborted. */
  readonly signal?: AbortSignal
  /** Other facts of `svc.run`. */
  readonly run?: Partial<RunFacts>
}

export interface CallerOptions extends RunOptions {
  /** Who calls. By default nobody, and for webhooks that require one an API key with all rights. */
  readonly caller?: Caller
}

export interface EventOptions<E extends Event> extends RunOptions {
  /** The type that the function handles, unless it handles several. */
  readonly type?: E["event_type"]
  /** Other facts of the event. */
  readonly event?: Partial<Omit<Event, "event_type" | "event_data">>
}

/** What a value is once it has been JSON. */
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
  /** What the function returned, as JSON has it; null unless it succeeded. */
  readonly result: Result | null
  /** What it threw; null unless it failed. */
  readonly error: Failure | null
}

export interface TestAnswer extends TestRun<unknown> {
  /** What the caller of the webhook gets; 500 when the function failed. */
  readonly response: Response
}

/** `svc` is `never`: whatever a function expects there, it gets all of it. */
interface Fn<In, Result> {
  (input: In, svc: never): Result | Promise<Result>
  readonly meta?: Meta
}

/** An environment in memory, in which one run after the other leaves its files. Runs that fail do not reject. */
export interface TestEnv {
  /** The files of the environment. */
  readonly files: Files
  /** Runs a handler for an event with this data. */
  readonly event: <E extends Event, Result>(
    fn: Fn<E, Result>,
    data: NoInfer<E["event_data"]>,
    options?: EventOptions<NoInfer<E>>
  ) => Promise<TestRun<Stored<Result>>>
  /** The same for an event as it arrives, whatever its data are: for those that a function is to refuse. */
  readonly deliver: <Result>(
    fn: Fn<never, Result>,
    event: Partial<Event> & Pick<Event, "event_type" | "event_data">,
    options?: RunOptions
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
  /** Calls a function with its arguments, as `svc.call` does. It finds `svc` as a global. */
  readonly call: <Args extends ReadonlyArray<unknown>, Result>(
    fn: (...args: Args) => Result | Promise<Result>,
    args: NoInfer<Args>,
    options?: RunOptions
  ) => Promise<TestRun<Stored<Result>>>
}
