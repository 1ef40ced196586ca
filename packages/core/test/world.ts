/** A complete Weft in memory, with functions of the test as tenants' code and virtual time. */

import { createHash } from "node:crypto"
import {
  Builds,
  Caller,
  type Env,
  Events,
  hostIdentity,
  layer,
  Projects,
  Runs,
  type RuntimeConfig,
  Tenants
} from "@weft/core"
import { type Sandbox, Turns } from "@weft/core/adapter"
import { eventLoop, WorkScheduler } from "@weft/core/internal"
import { MemoryStores, type TrustedModule, trustedSandbox, trustedZip } from "@weft/core/testing"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"

export const masterKeys = [Redacted.make(new Uint8Array(32).fill(7))] as const

/** Turns follow the real time that work takes, so tests would depend on the speed of the machine. */
export const immediateTurns = Layer.sync(Turns, () => new WorkScheduler({ ...eventLoop, now: () => 0 }))

export const world = (
  modules: Readonly<Record<string, TrustedModule>>,
  config: Omit<RuntimeConfig, "masterKeys"> = {},
  sandbox: Layer.Layer<Sandbox> = trustedSandbox(modules)
) =>
  layer({ masterKeys, ...config }).pipe(
    Layer.provideMerge(MemoryStores.layer),
    Layer.provide([sandbox, immediateTurns])
  )

const nextTurn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** Runs everything that is ready, and advances the clock by 20 ms. */
export const settle = Effect.gen(function* () {
  for (let turn = 0; turn < 20; turn++) {
    yield* TestClock.adjust(1)
    yield* nextTurn
  }
})

/** Creates an organization with one environment, and deploys the module `key` in the project `key`. */
export const deployed = Effect.fnUntraced(function* (key: string, slug: string = key) {
  const tenants = yield* Tenants
  const org = yield* tenants.createOrg({ slug })
  const env = yield* tenants.createEnv(org.org_id, { name: "production" })
  const zip = trustedZip(key)
  const hash = createHash("sha256").update(zip).digest("hex")
  yield* asHost(
    env,
    Effect.gen(function* () {
      yield* Projects.use((projects) => projects.create({ name: key }))
      const { build } = yield* Builds.use((builds) => builds.upload(key, { zip, hash }))
      yield* Builds.use((builds) => builds.deploy(key, build.build_id))
    })
  )
  yield* settle
  return env
})

export const asHost = <A, E, R>(env: Env, effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Caller, hostIdentity(env.env_id))

export const publish = (
  env: Env,
  type: string,
  data: null | number | string | Readonly<Record<string, string>> = null
) =>
  asHost(
    env,
    Events.use((events) => events.publish({ type, data }))
  )

export const runsOf = (env: Env, eventId: string) =>
  asHost(
    env,
    Runs.use((runs) => runs.ofEvent(eventId))
  )

export const allRuns = (env: Env) =>
  Effect.map(
    asHost(
      env,
      Runs.use((runs) => runs.list({ limit: 100, offset: 0 }, {}))
    ),
    (page) => page.items
  )
