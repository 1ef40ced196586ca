/** Environments whose functions have schedules, and what is asked of them. */
import {
  Builds,
  type Env,
  type Event,
  Events,
  fromJsonText,
  Runs,
  type TrustedFunction,
  type TrustedModule,
  trustedZip
} from "@weft/core"
import { Effect, type Schema } from "effect"
import { Digest } from "effect/crypto"
import { TestClock } from "effect/testing"
import { asHost, settle } from "../world.ts"

/** A function with its triggers. */
export const withMeta = (meta: object, fn: (...args: ReadonlyArray<never>) => unknown = () => null): TrustedFunction =>
  Object.assign(fn, { meta })

/** Gives what it was called with. */
export const echo = (...args: ReadonlyArray<never>): unknown => args

/** A function that gives its tick, with these schedules, and one that gives its arguments. */
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

/** The message of the error that an effect must fail with. */
export const refusal = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.message)

/** What has run by a schedule so far, the first first. */
export const scheduled = Effect.fnUntraced(function* (env: Env) {
  yield* settle
  const { items } = yield* asHost(
    env,
    Runs.use((runs) => runs.list({ limit: 100, offset: 0 }, { type: "schedule" }))
  )
  return [...items].reverse()
})

/** The `svc:schedule` events so far, as data, the first first. */
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

/** When they were due, as ISO 8601. */
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

/** Before a world begins: in one that is there, everything between then and now would happen. */
export const at = (iso: string) => TestClock.setTime(Date.parse(iso))
