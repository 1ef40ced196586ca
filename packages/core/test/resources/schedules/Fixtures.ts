/** Environments whose functions have schedules, and operations on them. */
import type { Env } from "@weft/core"
import { Builds, Events, Runs } from "@weft/core"
import { type Event, fromJsonText } from "@weft/core/adapter"
import { type TrustedFunction, type TrustedModule, trustedZip } from "@weft/core/testing"
import { Effect, type Schema } from "effect"
import { Digest } from "effect/crypto"
import { TestClock } from "effect/testing"
import { asHost, settle } from "../../world.ts"

/** A function with triggers. */
export const withMeta = (meta: object, fn: (...args: ReadonlyArray<never>) => unknown = () => null): TrustedFunction =>
  Object.assign(fn, { meta })

/** Returns its arguments. */
export const echo = (...args: ReadonlyArray<never>): unknown => args

/** A module with a scheduled function that returns its tick, and a function that returns its arguments. */
export const ticking = (...schedules: ReadonlyArray<string | object>): TrustedModule => ({
  main: { tick: withMeta({ schedule: schedules }, (tick: unknown) => tick), echo }
})

export const publish = (env: Env, type: string, data: Schema.Json) =>
  asHost(
    env,
    Events.use((events) => events.publish({ type, data }))
  )

export const create = (env: Env, data: Schema.Json) => publish(env, "svc:schedule:new", data)
export const cancel = (env: Env, data: Schema.Json) => publish(env, "svc:schedule:cancel", data)

/** Returns the message of the error with which an effect must fail. */
export const refusal = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.message)

/** Returns the runs of schedules so far, the oldest first. */
export const scheduled = Effect.fnUntraced(function* (env: Env) {
  yield* settle
  const { items } = yield* asHost(
    env,
    Runs.use((runs) => runs.list({ limit: 100, offset: 0 }, { type: "schedule" }))
  )
  return [...items].reverse()
})

/** Returns the data of the `svc:schedule` events so far, the oldest first. */
export const ticks = Effect.fnUntraced(function* (env: Env) {
  const { items } = yield* asHost(
    env,
    Events.use((events) => events.list({ limit: 100, offset: 0 }))
  )
  return items
    .filter((event) => event.event_type === "svc:schedule")
    .map(dataOf)
    .reverse()
})

const dataOf = (event: Event): unknown => fromJsonText(event.event_data)

/** Returns their scheduled times, as ISO 8601. */
export const times = (env: Env) =>
  Effect.map(
    ticks(env),
    (all): ReadonlyArray<unknown> =>
      all.map((data) =>
        typeof data === "object" && data !== null && "scheduled_time" in data ? data.scheduled_time : undefined
      )
  )

/** Deploys another module in the project `project`. */
export const redeploy = Effect.fnUntraced(function* (env: Env, project: string, key: string) {
  const zip = trustedZip(key)
  const hash = yield* Effect.provide(
    Digest.Digest.use((digest) => digest.digestHex(Digest.sha256, zip)),
    Digest.layerWebCrypto
  )
  const build = yield* asHost(
    env,
    Builds.use((builds) =>
      Effect.flatMap(builds.upload(project, { zip, hash }), ({ build }) => builds.deploy(project, build.build_id))
    )
  )
  yield* settle
  return build
})

/** Sets the clock before a world is built. Later, every tick in between would fire. */
export const at = (iso: string) => TestClock.setTime(Date.parse(iso))
