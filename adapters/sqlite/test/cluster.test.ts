/** Two nodes on one SQL database. In production, SQLite has one node only. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Builds, Caller, type Env, Events, hostIdentity, layer, Projects, Runs, Tenants } from "@weft/core"
import { type TrustedFunction, trustedSandbox, trustedZip } from "@weft/core/testing"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { sharedStores } from "./Shared.ts"

/** Current and maximum concurrent runs per customer. */
class Gauge {
  readonly now = new Map<string, number>()
  readonly peak = new Map<string, number>()
  ended = 0

  begin(customer: string): void {
    const count = (this.now.get(customer) ?? 0) + 1
    this.now.set(customer, count)
    this.peak.set(customer, Math.max(count, this.peak.get(customer) ?? 0))
  }

  end(customer: string): void {
    this.now.set(customer, (this.now.get(customer) ?? 0) - 1)
    this.ended++
  }
}

const startNode = Effect.fnUntraced(function* (gauge: Gauge) {
  const scope = yield* Scope.make()
  const context = yield* Effect.context<never>()
  const sleep = (ms: number) => Effect.runPromiseWith(context)(Effect.sleep(ms))
  const job: TrustedFunction = Object.assign(
    async ({ event_data: { customer, ms } }: { readonly event_data: { customer: string; ms: number } }) => {
      gauge.begin(customer)
      await sleep(ms)
      gauge.end(customer)
    },
    { meta: { event: "job", concurrency: { limit: 2, key: "customer" } } }
  )
  const masterKeys = [Redacted.make(new Uint8Array(32).fill(7))] as const
  const node = layer({ masterKeys }).pipe(Layer.provide(trustedSandbox({ app: { main: { job } } })))
  const services = yield* Layer.buildWithScope(Layer.fresh(node), scope)
  return {
    in: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideContext(effect, services),
    stop: Scope.close(scope, Exit.void)
  }
})

/** Advances the clock by `ms` milliseconds in steps, and lets pending work run after each step. */
const pass = Effect.fnUntraced(function* (ms: number) {
  for (let done = 0; done < ms; done += 20) {
    yield* TestClock.adjust(20)
    for (let round = 0; round < 3; round++) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
  }
})

const asHost = <A, E, R>(env: Env, effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Caller, hostIdentity(env.env_id))

const deployed = Effect.gen(function* () {
  const tenants = yield* Tenants
  const org = yield* tenants.createOrg({ slug: "acme" })
  const env = yield* tenants.createEnv(org.org_id, { name: "production" })
  const zip = trustedZip("app")
  const hash = createHash("sha256").update(zip).digest("hex")
  yield* asHost(
    env,
    Effect.gen(function* () {
      yield* Projects.use((projects) => projects.create({ name: "app" }))
      const { build } = yield* Builds.use((builds) => builds.upload("app", { zip, hash }))
      yield* Builds.use((builds) => builds.deploy("app", build.build_id))
    })
  )
  return env
})

describe("two nodes on one SQL database", () => {
  it.effect("never exceed a function's concurrency limit together, and run all deliveries", () =>
    Effect.gen(function* () {
      const gauge = new Gauge()
      const nodes = [yield* startNode(gauge), yield* startNode(gauge)] as const
      const env = yield* nodes[0].in(deployed)
      yield* pass(100)
      const count = 60
      for (let n = 0; n < count; n++) {
        const data = { customer: ["a", "b", "c"][n % 3] ?? "", ms: 20 + ((n * 37) % 90) }
        yield* (n % 2 === 0 ? nodes[0] : nodes[1]).in(
          asHost(
            env,
            Events.use((events) => events.publish({ type: "job", data, ...(n % 5 === 0 ? { delay: 200 } : {}) }))
          )
        )
        if (n % 4 === 0) yield* pass(20)
      }
      yield* pass(3000)
      assert.strictEqual(gauge.ended, count)
      assert.deepStrictEqual(
        [...gauge.peak].sort(([a], [b]) => (a < b ? -1 : 1)),
        [
          ["a", 2],
          ["b", 2],
          ["c", 2]
        ]
      )
      const stats = yield* nodes[0].in(
        asHost(
          env,
          Runs.use((runs) => runs.stats)
        )
      )
      assert.deepStrictEqual([stats.total_runs, stats.succeeded], [count, count])
      for (const node of nodes) yield* node.stop
    }).pipe(Effect.provide(sharedStores))
  )
})
