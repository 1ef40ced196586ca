/**
 * Functions of the host that the code of its tenants may call: `svc.host.crm.lookup({ id })`.
 *
 *     const lookup = hostFunction({ input: ById, output: Customer, timeout: "5s" }, async ({ id }, { org, signal }) => …)
 *     await start({ …, host: { "crm.lookup": lookup } })
 *
 * Guests are untrusted. Their input is checked by `input` before the function is called. They receive only the output
 * that `output` accepts, and errors of type `HostRefused`.
 */
import { Context, Effect, Schema } from "effect"
import type { BuildId, EnvId, EventId, ProjectId, RunId, StreamId } from "../../../foundation/Ids.ts"
import type { Identity } from "../../../tenants/access/Caller.ts"
import type { Env, Org } from "../../../tenants/orgs/Tenant.ts"
import type { GuestInput, GuestOutput, HostInput, HostOutput, HostSchema, StandardSchema } from "./HostSchema.ts"

declare global {
  /** Available in every runtime. TypeScript declares it only with a platform's types, which add the other members. */
  interface AbortSignal {
    readonly aborted: boolean
  }
}

/** The run that calls the host function. */
export interface CallingRun {
  readonly run_id: RunId
  readonly env_id: EnvId
  readonly stream_id: StreamId
  readonly project_id: ProjectId
  readonly project_name: string
  readonly build_id: BuildId
  /** Namespace of the run's function; `var` is its name. */
  readonly ns: string
  readonly var: string
  readonly run_type: string
  /** Number of the attempt, from 1. */
  readonly attempt: number
  readonly origin_run_id: RunId | null
  readonly event_id: EventId | null
}

/** The tenant, run and credential of a call. The runtime provides all of it; the guest cannot change it. */
export interface TenantCall {
  /** Name of the host function. */
  readonly name: string
  readonly org: Org
  readonly env: Env
  readonly run: CallingRun
  /** Credential of the caller of the run's webhook or tool; null for all other runs. */
  readonly caller: Identity | null
}

/** A call of a function that returns a promise. */
export interface AbortableCall extends TenantCall {
  /** Aborted when the call times out or its run ends. */
  readonly signal: AbortSignal
}

export interface HostFunctionTerms {
  /** Returns true if the caller may see and call the function. Errors and other values mean no. Allows all by default. */
  readonly allow?: (call: TenantCall) => boolean
  /** Maximum time of a call once it runs: `"5s"`, or milliseconds. 30 s by default, 1 hour at most. */
  readonly timeout?: string | number
  /** Maximum calls of an environment per time and node, such as `{ calls: 100, per: "1m" }`. No limit by default. */
  readonly rate?: { readonly calls: number; readonly per: string | number }
  /** Maximum concurrent calls per run and per environment on each node; more are queued. 8 and 64 by default. */
  readonly concurrency?: { readonly run?: number; readonly env?: number }
}

export interface HostFunctionOptions<I extends HostSchema, O extends HostSchema> extends HostFunctionTerms {
  /** Schema of the guest's input. Without it the function takes no input. */
  readonly input?: I
  /** Schema of the output for the guest. Without it the guest receives no output, whatever the function returns. */
  readonly output?: O
}

/** Types for host functions without an input or an output schema. */
export type NoInput = StandardSchema<void, void>
export type NoOutput = StandardSchema<unknown, void>

/** Type of a host function for guests, without the promise. */
export type GuestFunction = (input: never) => unknown

/** Result of `hostFunction` and `hostEffect`. `F` is used by `GuestFunctions`. */
export interface HostFunction<F extends GuestFunction = GuestFunction> {
  readonly "~guest"?: F
  readonly options: HostFunctionOptions<HostSchema, HostSchema>
  /** Calls the function. Interruption aborts it, and the effect ends when the function has ended. */
  readonly run: (input: unknown, call: TenantCall) => Effect.Effect<unknown, unknown>
}

/** Host functions by name. A name has segments of letters, digits and `_`, joined by dots. */
export type HostFunctions = Readonly<Record<string, HostFunction>>

/** Types for guests, which a host publishes: `interface HostFunctions extends GuestFunctions<typeof host> {}`. */
export type GuestFunctions<H extends HostFunctions> = {
  readonly [Name in keyof H]: H[Name] extends HostFunction<infer F> ? F : never
}

/** An error for the guest: its call rejects with an error of this name and message. */
export class HostRefused extends Schema.TaggedError<HostRefused>()("HostRefused", {
  /** Name of the error; up to 64 characters are sent. */
  name: Schema.String,
  /** Message of the error; up to 1024 characters are sent. */
  message: Schema.String
}) {}

/** Creates a host function that returns a value or a promise. */
export function hostFunction<I extends HostSchema = NoInput, O extends HostSchema = NoOutput>(
  options: HostFunctionOptions<I, O>,
  fn: (input: HostInput<I>, call: AbortableCall) => HostOutput<O> | Promise<HostOutput<O>>
): HostFunction<(input: GuestInput<I>) => GuestOutput<O>>
export function hostFunction(
  options: HostFunctionOptions<HostSchema, HostSchema>,
  fn: (input: unknown, call: AbortableCall) => unknown
): HostFunction {
  return { options, run: (input, call) => toEffect((signal) => fn(input, { ...call, signal })) }
}

/**
 * Creates a host function that returns an effect. All calls use the services that are provided to this effect. A call is
 * interrupted when it times out or its run ends.
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
        // The context of the call has priority: its logger, clock and trace are those of the run.
        Effect.updateContext(
          Effect.suspend(() => fn(input, call)),
          (current: Context.Context<never>) => Context.merge(services, current)
        )
    })
  )
}

/** Returns an effect that ends when the promise has settled, also after an abort. */
const toEffect = (start: (signal: AbortSignal) => unknown): Effect.Effect<unknown, unknown> =>
  Effect.callback((resume, signal) => {
    const ended = (async () => start(signal))().then(
      (value) => resume(Effect.succeed(value)),
      (error) => resume(Effect.fail(error))
    )
    return Effect.promise(() => ended)
  })
