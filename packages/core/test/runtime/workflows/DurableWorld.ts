/** Durable functions of a module, and their runs, for tests with virtual time. */
import { type Env, RunControl } from "@weft/core"
import type { TrustedModule } from "@weft/core/testing"
import { type Duration, Effect, type Schema } from "effect"
import { TestClock } from "effect/testing"
import { cryptography } from "../../Cryptography.ts"
import { allRuns, asHost, runsOf, settle, world } from "../../world.ts"

export interface Durable {
  readonly step: <A>(name: string, body: () => A | Promise<A>) => Promise<A>
  readonly sleep: (name: string, duration: Schema.Json) => Promise<void>
  readonly waitForEvent: (name: string, wait: Schema.Json) => Promise<unknown>
  readonly invoke: <A>(
    fn: string,
    args?: unknown,
    options?: { readonly name?: string; readonly timeout?: string }
  ) => Promise<A>
  readonly call: (fn: string, args?: unknown) => Promise<{ readonly event_id: string; readonly stream_id: string }>
  readonly version: (id: string, max: number) => Promise<number>
  readonly continueAsNew: (args?: unknown) => Promise<never>
}

type DurableFunction = (event: Readonly<Record<string, unknown>>, svc: Durable) => unknown

export const durable = (event: string, fn: DurableFunction, meta = {}) =>
  Object.assign(fn, { meta: { event, durable: true, ...meta } })

/** A durable function that is called by its name. */
export const callee = (fn: (...args: ReadonlyArray<never>) => unknown, meta = {}) =>
  Object.assign(fn, { meta: { durable: true, ...meta } })

export const main = (functions: TrustedModule[string]) => world({ shop: { main: functions } })

export const pass = (time: Duration.Input) => Effect.andThen(TestClock.adjust(time), settle)

/** Runs everything that follows from what is ready, and advances the clock by 240 ms. */
export const settleAll = Effect.gen(function* () {
  for (let turn = 0; turn < 12; turn++) {
    yield* settle
    yield* cryptography
  }
})

/** Returns the last run of an event. */
export const runOf = Effect.fnUntraced(function* (env: Env, eventId: string) {
  const [run] = yield* runsOf(env, eventId)
  return { ...run, waiting: JSON.parse(run?.waiting ?? "null"), result: JSON.parse(run?.result ?? "null") }
})

export const runsNamed = (env: Env, name: string) =>
  Effect.map(allRuns(env), (all) => all.filter((run) => run.var === name))

export const cancel = (env: Env, runId = "", cleanup?: string) =>
  asHost(
    env,
    RunControl.use((control) => control.cancel(runId, cleanup))
  )

export const described = async (attempt: Promise<unknown>) => {
  try {
    return await attempt
  } catch (error) {
    if (!(error instanceof Error)) return "no error"
    const { name, message, cause } = error
    return { name, message, hasRun: typeof cause === "object" && cause !== null && "run_id" in cause }
  }
}
