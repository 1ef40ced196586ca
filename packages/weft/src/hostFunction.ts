/** Functions of the host that tenants' code may call: `svc.host.crm.lookup({ id })`. */
import * as core from "@weft/core"
import { toEnv, toOrg } from "./convert.ts"
import type { Env, Json, Org, Permissions } from "./records.ts"

/** A schema of any library that implements Standard Schema (https://standardschema.dev), such as zod and valibot. */
export type StandardSchema<Input = unknown, Output = Input> = core.StandardSchema<Input, Output>

type InputOf<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["input"]
type OutputOf<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"]

/** The run whose code calls a host function. */
export interface CallingRun {
  readonly id: string
  readonly streamId: string
  readonly projectId: string
  readonly projectName: string
  readonly buildId: string
  /** The function that runs. */
  readonly ns: string
  readonly var: string
  readonly type: string
  /** Counts from 1. */
  readonly attempt: number
  readonly originRunId: string | null
  readonly eventId: string | null
}

/** Facts about one call of a host function. The runtime provides all of them; nothing comes from the guest. */
export interface HostCall {
  /** The name of the host function. */
  readonly name: string
  readonly org: Org
  readonly env: Env
  readonly run: CallingRun
  /** The credential that called the webhook or tool; null for all other runs. */
  readonly caller: {
    readonly type: "api-key" | "service-key" | "session" | "host"
    /** The id of the credential; null for the host. */
    readonly id: string | null
    readonly permissions: Permissions
    /** Data that the creator of a session or service key attached to it; null for all others. */
    readonly metadata: Json
  } | null
}

export interface HostFunctionOptions<I extends StandardSchema, O extends StandardSchema> {
  /** Validates what the guest passes. Without it the function takes no input. */
  readonly input?: I
  /** Validates what the function returns. Without it the guest receives undefined. */
  readonly output?: O
  /** Returns true if the caller may use the function; by default everybody may. */
  readonly allow?: (call: HostCall) => boolean
  /** Time limit of one call: `"5s"`, or milliseconds. 30 s by default, at most 1 h. */
  readonly timeout?: string | number
  /** Maximum calls of one environment in a period, on each node. Unlimited by default. */
  readonly rate?: { readonly calls: number; readonly per: string | number }
  /** Maximum concurrent calls of one run (8) and of one environment (64), on each node. More calls wait. */
  readonly concurrency?: { readonly run?: number; readonly env?: number }
}

/** A function as the guest's code sees it, without the promise. */
export type GuestFunction = (input: never) => unknown

/** A registered host function. Its type parameter carries the guest's types, see {@link GuestFunctions}. */
export interface HostFunction<F extends GuestFunction = GuestFunction> {
  readonly "~guest"?: F
}

/** Host functions by name: segments of letters, digits and `_`, joined by dots. */
export type HostFunctions = Readonly<Record<string, HostFunction>>

/** Types that a host publishes for its authors: `interface HostFunctions extends GuestFunctions<typeof host> {}`. */
export type GuestFunctions<H extends HostFunctions> = {
  readonly [Name in keyof H]: H[Name] extends HostFunction<infer F> ? F : never
}

/** Makes a guest's call reject with an error of this name and message. All other errors stay hidden from the guest. */
export class HostRefused extends Error {
  override readonly name: string

  /** `name`: at most 64 characters; `message`: at most 1,024 characters. Longer text is cut. */
  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}

/** The runtime's form of each function, which has Effect types in it. */
const definitions = new WeakMap<HostFunction, core.HostFunction>()

/** Registers a function that returns a value or a promise. `signal` aborts at the timeout and when the run ends. */
export function hostFunction<
  I extends StandardSchema = StandardSchema<void, void>,
  O extends StandardSchema = StandardSchema<unknown, void>
>(
  options: HostFunctionOptions<I, O>,
  fn: (input: OutputOf<I>, call: HostCall & { readonly signal: AbortSignal }) => InputOf<O> | Promise<InputOf<O>>
): HostFunction<(input: InputOf<I>) => OutputOf<O>>
export function hostFunction(
  { allow, ...options }: HostFunctionOptions<StandardSchema, StandardSchema>,
  fn: (input: unknown, call: HostCall & { readonly signal: AbortSignal }) => unknown
): HostFunction {
  const registered: HostFunction = {}
  const definition = core.hostFunction<StandardSchema, StandardSchema>(
    { ...options, ...(allow === undefined ? {} : { allow: (call) => allow(toHostCall(call)) }) },
    async (input, { signal, ...call }) => {
      try {
        return await fn(input, { ...toHostCall(call), signal })
      } catch (error) {
        throw error instanceof HostRefused ? new core.HostRefused({ name: error.name, message: error.message }) : error
      }
    }
  )
  definitions.set(registered, definition)
  return registered
}

/** Returns the runtime's form of all functions. Throws for a value that {@link hostFunction} did not make. */
export const toCoreFunctions = (functions: HostFunctions): core.HostFunctions =>
  Object.fromEntries(
    Object.entries(functions).map(([name, registered]) => {
      const definition = definitions.get(registered)
      if (definition === undefined) throw new TypeError(`\`host["${name}"]\` must be made by hostFunction()`)
      return [name, definition]
    })
  )

const toHostCall = ({ name, org, env, run, caller }: core.TenantCall): HostCall => ({
  name,
  org: toOrg(org),
  env: toEnv(env),
  run: {
    id: run.run_id,
    streamId: run.stream_id,
    projectId: run.project_id,
    projectName: run.project_name,
    buildId: run.build_id,
    ns: run.ns,
    var: run.var,
    type: run.run_type,
    attempt: run.attempt,
    originRunId: run.origin_run_id,
    eventId: run.event_id
  },
  caller:
    caller === null
      ? null
      : { type: caller.type, id: caller.id, permissions: caller.permissions, metadata: caller.metadata }
})
