/** Runs of functions that never return, and operations on them as the host. */
import { type Env, RunControl, Runs } from "@weft/core"
import type { TrustedFunction, TrustedSvc } from "@weft/core/testing"
import { Effect } from "effect"
import { asHost, publish, runsOf, settle } from "../../world.ts"

const pendingCalls = new Set<(value: string) => void>()

export const never = () => new Promise<string>((resolve) => pendingCalls.add(resolve))

/** Ends all pending calls. Each test ends with it, because the shutdown waits for them. */
export const endAll = Effect.sync(() => {
  for (const resolve of pendingCalls) resolve("ended")
  pendingCalls.clear()
})

/** Signals of the functions that `hangs` returned. */
export const signals: Array<{ readonly aborted: boolean }> = []

export const hangs = (meta: object): TrustedFunction =>
  Object.assign(
    (_: unknown, { signal, log }: TrustedSvc) => {
      if (signal instanceof AbortSignal) signals.push(signal)
      log.info("began")
      return never()
    },
    { meta }
  )

export const cancel = (env: Env, id: string) =>
  asHost(
    env,
    RunControl.use((control) => control.cancel(id))
  )

export const cancelAll = (env: Env, query: Parameters<RunControl["Service"]["cancelAll"]>[0] = {}) =>
  asHost(
    env,
    RunControl.use((control) => control.cancelAll(query))
  )

/** Publishes an event and returns the run that began. */
export const startRun = Effect.fnUntraced(function* (env: Env, type: string) {
  const event = yield* publish(env, type)
  yield* settle
  const [run] = yield* runsOf(env, event.event_id)
  if (run === undefined) return yield* Effect.die(new Error("no run began"))
  return run
})

export const readLogs = (env: Env, id: string) =>
  Effect.map(
    asHost(
      env,
      Runs.use((runs) => runs.logs(id, { limit: 10, offset: 0 }))
    ),
    ({ items }) => items.map((entry) => entry.message)
  )
