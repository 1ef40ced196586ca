/** Durable functions: their steps, sleeps, tokens and waits survive crashes, restarts and deployments. */
import type { CallTerms } from "./Callable.ts"
import type { AnyEvents, Catalogue, CheckedPattern, Event, Matched, PathOf } from "./Event.ts"
import type { HandlerMeta } from "./Handler.ts"
import { type BackgroundTerms, type Duration, type Retry, withMeta } from "./Meta.ts"
import type { InferInput, InferOutput, StandardSchemaV1, Unchecked } from "./StandardSchema.ts"
import type { AnyFunction, ArgsOf, EventSvc } from "./Svc.ts"
import { validate } from "./validate.ts"

/** The argument of the body of a step. */
export interface StepContext {
  /** Number of the attempt, from 1. */
  readonly attempt: number
  /** Aborts when the attempt has reached its `timeout`, or when the run is cancelled. */
  readonly signal: AbortSignal
  /** The same in every attempt at this step of this run. Pass it to services that accept idempotency keys. */
  readonly idempotencyKey: string
}

/**
 * An error of a body may have `nonRetryable: true`, or the name `NonRetryable`: no further attempt follows. Its `retryAfter`,
 * in milliseconds, as a duration or as a `Date`, is the delay before the next attempt. `RetryAfter` is such an error.
 */
export interface AttemptOptions {
  /** The policy of the function by default. */
  readonly retry?: Retry
  /** Time after which an attempt fails with `StepTimeout`, at most 1 hour. Its `signal` aborts then. */
  readonly timeout?: Duration
}

/** Undoes a completed step. Runs as a step of its own, with the options of the step. */
export type Undo<A> = (result: A, context: StepContext) => unknown

export interface StepOptions<A = unknown> extends AttemptOptions {
  /** Undoes the step if the function fails after it, or is cancelled with cleanup. */
  readonly compensate?: Undo<A>
}

/** Steps that are undone in reverse order if the function fails, or is cancelled with cleanup. */
export interface Saga {
  /** As `svc.step`. `undo` receives the result of the step. */
  step<A>(
    name: string,
    body: (context: StepContext) => A | Promise<A>,
    undo: Undo<A>,
    options?: AttemptOptions
  ): Promise<A>
}

export interface FanOutOptions {
  /** Maximum calls at the same time, 1 to 1,000; 10 by default. */
  readonly concurrency?: number
}

export interface InvokeOptions {
  /** Name in the record of the run; that of the function by default. */
  readonly name?: string
  /** After it, the promise rejects with `TimedOut`, and the child run is cancelled. At most 365 days; without it, no limit. */
  readonly timeout?: Duration
}

/** The function as its caller sees it: without `svc`, which a durable function receives after its arguments. */
export type WithoutSvc<F extends AnyFunction> =
  Parameters<F> extends readonly [...infer Args, infer Last]
    ? DurableSvc extends Last
      ? unknown extends Last
        ? F
        : (...args: Args) => ReturnType<F>
      : F
    : F

export interface EventWait {
  /** The exact event type. */
  readonly event: string
  /**
   * Required values by path into `event_data`, such as `{ "order.id": "o1" }`. At most 16 paths. Any event of the type by
   * default.
   */
  readonly match?: Readonly<Record<string, unknown>>
  /** Without it, the wait ends with the run's timeout. At most 365 days. */
  readonly timeout?: Duration
  /** `"start"`: events since the start of the run count, and not only those since the wait. */
  readonly since?: "start"
}

export interface TokenOptions {
  /** Without it, the token expires with its run. At most 365 days. */
  readonly timeout?: Duration
}

/** A token: any client with its URL may complete it once. */
export interface Token {
  /** URL of a page with a button. A `POST` with `{ "data": … }` completes the token as well. */
  readonly url: string
  /** The secret of the token, which is part of the URL. Keep it out of results and logs. */
  readonly token: string
  /** Public id of the token, for your own records. */
  readonly id: string
}

/** The end of a wait for a token. `data` is null if the token was completed without data. */
export type TokenAnswer<A = unknown> =
  | { readonly ok: true; readonly data: A }
  | { readonly ok: false; readonly reason: "timeout" }

/**
 * `svc` of a durable function.
 *
 * Names appear in the run's timeline, and a replay checks them. Code outside steps may run several times; it must do the same
 * each time.
 */
export interface DurableSvc<Events extends Catalogue = AnyEvents> extends Omit<EventSvc<Events>, "invoke"> {
  /**
   * Runs `body` and records its result, at most 256 KiB of JSON. The body runs at least once; its recorded result is used
   * from then on. After the last attempt of `retry` failed, the promise rejects with that error, and the function decides.
   */
  step<A>(name: string, body: (context: StepContext) => A | Promise<A>, options?: StepOptions<A>): Promise<A>
  /**
   * Calls `fn` for each item, some at a time. Resolves with the results in the order of the items. After a failure no further
   * call starts, and the promise rejects with the first error once the started calls have ended.
   */
  all<A, B>(
    items: ReadonlyArray<A>,
    fn: (item: A, index: number) => B | Promise<B>,
    options?: FanOutOptions
  ): Promise<Array<B>>
  /**
   * Returns steps that can be undone. An undo that fails is logged, the others still run, and the error of the run names it.
   */
  saga(): Saga
  /** Sleeps for at most 365 days. A sleep of more than a second occupies no memory. */
  sleep(name: string, duration: Duration): Promise<void>
  sleepUntil(name: string, time: Date | string | number): Promise<void>
  /** Returns the first event that matches; null after the timeout. An event after this call is never missed. */
  waitForEvent(name: string, wait: EventWait): Promise<Event | null>
  /** Creates a token, such as for an approval. Each replay returns the same one. */
  createToken(name: string, options?: TokenOptions): Promise<Token>
  /** Waits until a token of this run is completed, or has expired. Takes the token, or its field `token`. */
  waitForToken<A = unknown>(token: Token | string): Promise<TokenAnswer<A>>
  /**
   * Starts a run of a deployed function, and returns its result after its last attempt:
   * `svc.invoke<typeof charge>("billing/charge", [order])`. Rejects with the error of its last attempt; `error.cause.run_id` is
   * that run. A durable function also receives `svc`, after the arguments.
   */
  invoke<F extends AnyFunction = AnyFunction>(
    fn: string,
    args?: ArgsOf<WithoutSvc<F>>,
    options?: InvokeOptions
  ): Promise<Awaited<ReturnType<F>>>
  /**
   * Returns the number that this run uses for a change of its code. It is `max` in new runs, and 0 in records that are
   * older than this call. It is always the same in one run. At most 1,000,000.
   */
  version(id: string, max: number): Promise<number>
  /**
   * Ends this run as succeeded, and starts the next one of the function in the same commit. An array is the list of its
   * arguments, any other value the only one. Never returns; rejects if the plan allows no further run.
   */
  continueAsNew(args?: unknown): Promise<never>
  /** Time of the last recorded result, in milliseconds since 1970: the same in each replay. */
  now(): number
  /** A random number in [0, 1): the same in each replay. Not for secrets. */
  random(): number
  /** A UUID of version 4: the same in each replay. Not for secrets. */
  uuid(): string
}

export interface DurableOptions<Pattern extends string, Data extends StandardSchemaV1>
  extends BackgroundTerms<PathOf<InferInput<NoInfer<Data>>>> {
  /** An event type, a prefix that ends in `*`, or a list of these. */
  readonly event: CheckedPattern<Pattern> | ReadonlyArray<CheckedPattern<Pattern>>
  /** Validates `event_data`; invalid data fails the run with `Invalid`. */
  readonly data?: Data
  /**
   * True to reject effects outside of steps with `OutsideStep`: `fetch`, `svc.events.publish`, files, host functions. They are
   * a warning in the log otherwise.
   */
  readonly strict?: boolean
}

/** The option `durable` of `meta`. */
export type DurableMeta = true | { readonly strict: boolean }

/** A durable function as the runtime calls it. `In` is the event before validation. */
export interface DurableHandler<In extends Event, Result> {
  (event: In, svc: DurableSvc): Promise<Result>
  readonly meta: HandlerMeta & { readonly durable: DurableMeta }
}

/**
 * Defines a durable function that handles events:
 *
 *     export const fulfil = durable({ event: "order:created", timeout: "30d" }, async (event, svc) => {
 *       const payment = await svc.step("charge", ({ idempotencyKey }) => charge(event.event_data, idempotencyKey))
 *       await svc.sleep("settle", "2h")
 *       return svc.step("ship", () => ship(event.event_data, payment))
 *     })
 *
 * `retry` is the policy of its steps. `timeout` is for the run as a whole: 30 days by default, at most 365 days.
 */
export const durable = <const Pattern extends string, Result, Data extends StandardSchemaV1 = Unchecked>(
  on: CheckedPattern<Pattern> | ReadonlyArray<CheckedPattern<Pattern>> | DurableOptions<Pattern, Data>,
  fn: (event: Event<Matched<Pattern>, InferOutput<Data>>, svc: DurableSvc) => Result | Promise<Result>
): DurableHandler<Event<Matched<Pattern>, InferInput<Data>>, Result> => {
  const options: DurableOptions<Pattern, Data> = typeof on === "object" && "event" in on ? on : { event: on }
  const { data, strict, ...meta } = options
  const run = async (event: Event<Matched<Pattern>, InferInput<Data>>, svc: DurableSvc): Promise<Result> =>
    fn({ ...event, event_data: await validate(data, event.event_data, "event_data") }, svc)
  const isDurable: DurableMeta = strict === undefined ? true : { strict }
  return withMeta(run, { ...meta, durable: isDurable })
}

/** A durable function that is called by its name: by `svc.invoke`, `svc.call` or a schedule. */
export interface DurableCallable<Args extends ReadonlyArray<unknown>, Result> {
  (...args: [...Args, DurableSvc]): Promise<Result>
  readonly meta: CallTerms & { readonly durable: true }
}

/**
 * Defines a durable function that is called by its name. It receives its arguments, then `svc`:
 *
 *     export const poll = durableCallable({}, async (round: number, svc: DurableSvc) => {
 *       await svc.sleep("pause", "1h")
 *       return svc.continueAsNew([round + 1])
 *     })
 */
export const durableCallable = <Args extends ReadonlyArray<unknown>, Result>(
  terms: CallTerms,
  fn: (...args: [...Args, DurableSvc]) => Result | Promise<Result>
): DurableCallable<Args, Result> =>
  withMeta(async (...args: [...Args, DurableSvc]): Promise<Result> => fn(...args), { ...terms, durable: true as const })
