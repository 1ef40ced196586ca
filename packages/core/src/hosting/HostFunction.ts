/**
 * Functions of the host that the code of its tenants may call: `svc.host.crm.lookup({ id })`.
 *
 *     const lookup = hostFunction({ input: ById, output: Customer, timeout: "5s" }, async ({ id }, { org, signal }) => …)
 *     await start({ …, host: { "crm.lookup": lookup } })
 *
 * The guest is hostile: what it gives has been checked by `input` before the function is called, and it gets nothing
 * but what `output` lets through, and the errors that are meant for it (`HostRefused`).
 */
import { Context, Effect, Schema } from "effect"
import type { Identity } from "../access/Caller.ts"
import type { BuildId, EnvId, EventId, ProjectId, RunId, StreamId } from "../ids/Ids.ts"
import type { Env, Org } from "../tenancy/Tenant.ts"
import type { GuestInput, GuestOutput, HostInput, HostOutput, HostSchema, StandardSchema } from "./HostSchema.ts"

declare global {
  /** As in every runtime; TypeScript declares it only together with a platform, which adds the rest. */
  interface AbortSignal {
    readonly aborted: boolean
  }
}

/** The run that calls. */
export interface CallingRun {
  readonly run_id: RunId
  readonly env_id: EnvId
  readonly stream_id: StreamId
  readonly project_id: ProjectId
  readonly project_name: string
  readonly build_id: BuildId
  /** Of the function that runs, with `var`. */
  readonly ns: string
  readonly var: string
  readonly run_type: string
  /** From 1. */
  readonly attempt: number
  readonly origin_run_id: RunId | null
  readonly event_id: EventId | null
}

/** Who calls a host function, and for whom. Facts of the runtime: nothing of it is the guest's word. */
export interface TenantCall {
  /** Of the host function. */
  readonly name: string
  readonly org: Org
  readonly env: Env
  readonly run: CallingRun
  /** The credential that called the webhook or tool which runs; null for all other runs. */
  readonly caller: Identity | null
}

/** The same for functions that give promises. */
export interface AbortableCall extends TenantCall {
  /** Aborted when the time of the call is over, or its run ends, whatever the reason. */
  readonly signal: AbortSignal
}

export interface HostFunctionTerms {
  /** Whether the function is there for who calls. What throws, or gives anything but true, is a no. Default: it is. */
  readonly allow?: (call: TenantCall) => boolean
  /** How long a call may take once it has its turn: `"5s"`, or milliseconds. 30 s by default, 1 hour at most. */
  readonly timeout?: string | number
  /** Calls of an environment in a time, such as `{ calls: 100, per: "1m" }`, on each node. No limit by default. */
  readonly rate?: { readonly calls: number; readonly per: string | number }
  /** Calls of one run and of one environment that go on at once, on each node; more wait. 8 and 64 by default. */
  readonly concurrency?: { readonly run?: number; readonly env?: number }
}

export interface HostFunctionOptions<I extends HostSchema, O extends HostSchema> extends HostFunctionTerms {
  /** What the guest must give. Without it the function takes nothing. */
  readonly input?: I
  /** What the guest gets. Without it that is nothing, whatever the function gives. */
  readonly output?: O
}

/** Stand for schemas where there are none. */
export type NoInput = StandardSchema<void, void>
export type NoOutput = StandardSchema<unknown, void>

/** A host function as its guests see it, but for the promise. */
export type GuestFunction = (input: never) => unknown

/** What `hostFunction` and `hostEffect` make. `F` is there for `GuestFunctions`. */
export interface HostFunction<F extends GuestFunction = GuestFunction> {
  readonly "~guest"?: F
  readonly options: HostFunctionOptions<HostSchema, HostSchema>
  /** Interruption asks it to end; the effect ends when it has. */
  readonly run: (input: unknown, call: TenantCall) => Effect.Effect<unknown, unknown>
}

/** Host functions by name: segments of letters, digits and `_`, joined by dots. */
export type HostFunctions = Readonly<Record<string, HostFunction>>

/** For the types that a host publishes: `interface HostFunctions extends GuestFunctions<typeof host> {}`. */
export type GuestFunctions<H extends HostFunctions> = {
  readonly [Name in keyof H]: H[Name] extends HostFunction<infer F> ? F : never
}

/** A failure that is meant for the guest, whose call rejects with an error of this name and message. */
export class HostRefused extends Schema.TaggedError<HostRefused>()("HostRefused", {
  /** Up to 64 characters are told. */
  name: Schema.String,
  /** Up to 1024 characters are told. */
  message: Schema.String
}) {}

/** A function of the host that gives a value or a promise. */
export function hostFunction<I extends HostSchema = NoInput, O extends HostSchema = NoOutput>(
  options: HostFunctionOptions<I, O>,
  fn: (input: HostInput<I>, call: AbortableCall) => HostOutput<O> | Promise<HostOutput<O>>
): HostFunction<(input: GuestInput<I>) => GuestOutput<O>>
export function hostFunction(
  options: HostFunctionOptions<HostSchema, HostSchema>,
  fn: (input: unknown, call: AbortableCall) => unknown
): HostFunction {
  return { options, run: (input, call) => settled((signal) => fn(input, { ...call, signal })) }
}

/**
 * A function of the host that is an effect. Gives it with the services that are there when this is run, so that they are
 * the same for all calls. It is interrupted when the time of the call is over, or its run ends.
 */
export function hostEffect<R, E, I extends HostSchema = NoInput, O extends HostSchema = NoOutput>(
  options: HostFunctionOptions<I, O>,
  fn: (input: HostInput<I>, call: TenantCall) => Effect.Effect<HostOutput<O>, E, R>
): Effect.Effect<HostFunction<(input: GuestInput<I>) => GuestOutput<O>>, never, R>
export function hostEffect<R>(
  options: HostFunctionOptions<HostSchema, HostSchema>,
  fn: (input: unknown, call: TenantCall) => Effect.Effect<unknown, unknown, R>
): Effect.Effect<HostFunction, never, R> {
  return Effect.contextWith((services: Context.Context<R>) =>
    Effect.succeed({
      options,
      run: (input, call) =>
        // What the call brings goes before: its logger, clock and trace are those of the run.
        Effect.updateContext(
          Effect.suspend(() => fn(input, call)),
          (current: Context.Context<never>) => Context.merge(services, current)
        )
    })
  )
}

/** As an effect that ends when the promise has: who aborts it sees whether it went on. */
const settled = (start: (signal: AbortSignal) => unknown): Effect.Effect<unknown, unknown> =>
  Effect.callback((resume, signal) => {
    const ended = (async () => start(signal))().then(
      (value) => resume(Effect.succeed(value)),
      (error) => resume(Effect.fail(error))
    )
    return Effect.promise(() => ended)
  })
