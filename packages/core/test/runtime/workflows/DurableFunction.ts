/** Durable functions of tests, and what they did. */
import { type Env, RunControl, Runs } from "@weft/core"
import type { TrustedModule } from "@weft/core/testing"
import { type Duration, Effect, type Schema } from "effect"
import { TestClock } from "effect/testing"
import { asHost, publish, runsOf, settle, world } from "../../world.ts"

export interface StepContext {
  readonly attempt: number
  readonly idempotencyKey: string
  readonly signal: AbortSignal
}

type Body<A> = (context: StepContext) => A | Promise<A>

export interface DurableSvc {
  readonly step: <A>(
    name: string,
    body: Body<A>,
    options?: {
      readonly retry?: Schema.Json
      readonly timeout?: Schema.Json
      readonly compensate?: (result: A) => unknown
    }
  ) => Promise<A>
  readonly all: <A, B>(
    items: ReadonlyArray<A>,
    fn: (item: A, index: number) => Promise<B>,
    options?: { readonly concurrency?: number }
  ) => Promise<ReadonlyArray<B>>
  readonly saga: () => {
    readonly step: <A>(
      name: string,
      body: Body<A>,
      undo: (result: A) => unknown,
      options?: { readonly retry?: Schema.Json }
    ) => Promise<A>
  }
  readonly sleep: (name: string, duration: Schema.Json) => Promise<void>
  readonly waitForEvent: (name: string, wait: Schema.Json) => Promise<unknown>
  readonly events: { readonly publish: (event: Schema.Json) => Promise<unknown> }
  readonly log: { readonly info: (message: string) => void }
}

export const durable = (
  event: string,
  fn: (event: Readonly<Record<string, unknown>>, svc: DurableSvc) => unknown,
  meta: Readonly<Record<string, unknown>> = {}
) => Object.assign(fn, { meta: { event, durable: true, ...meta } })

export const main = (functions: TrustedModule[string]) => world({ shop: { main: functions } })

export const pass = (time: Duration.Input) => Effect.andThen(TestClock.adjust(time), settle)

/** Publishes the event and runs everything that is ready. Returns the id of the event. */
export const begin = Effect.fnUntraced(function* (env: Env, type: string) {
  const { event_id } = yield* publish(env, type)
  yield* settle
  yield* settle
  return event_id
})

export const runOf = Effect.fnUntraced(function* (env: Env, eventId: string) {
  const [run] = yield* runsOf(env, eventId)
  if (run === undefined) return yield* Effect.die("the event has no run")
  return run
})

/** Returns the error of a run that ended. */
export const errorOf = Effect.fnUntraced(function* (env: Env, eventId: string) {
  const { status, result } = yield* runOf(env, eventId)
  const { error } = JSON.parse(result ?? "{}")
  return { status, name: error?.name, message: error?.message }
})

export const cancel = Effect.fnUntraced(function* (env: Env, eventId: string, cleanup?: boolean | string) {
  const { run_id } = yield* runOf(env, eventId)
  const cancelled = yield* asHost(
    env,
    RunControl.use((control) => control.cancel(run_id, cleanup))
  )
  yield* settle
  yield* settle
  return cancelled
})

export const logOf = Effect.fnUntraced(function* (env: Env, eventId: string) {
  const { run_id } = yield* runOf(env, eventId)
  const { items } = yield* asHost(
    env,
    Runs.use((runs) => runs.logs(run_id, { limit: 100, offset: 0 }))
  )
  return items.map(({ level, message }) => [level, message])
})
