/** Hooks of a host for new tenants: called at least once each, in virtual time. */
import { assert, describe } from "@effect/vitest"
import type { Tenant } from "@weft/core"
import { Caller, hostIdentity, Projects, Tenants } from "@weft/core"
import { TenantStore, Timestamp } from "@weft/core/adapter"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { settle } from "../../world.ts"
import { check, type Provisioning, startNode } from "./startNode.ts"

const ensure = Tenants.use((tenants) => tenants.ensure({ org: "acme", env: "production" }))

const unconfirmed = TenantStore.use((store) =>
  store.dueHookJobs(["org", "env"], Timestamp.make(Number.MAX_SAFE_INTEGER), 100)
)

/** A host that records the environments of its hook calls, and then runs an effect. */
const recordHooks = (then: (recorded: Array<Tenant>) => Effect.Effect<unknown, unknown> = () => Effect.void) => {
  const recorded: Array<Tenant> = []
  const hooks: Provisioning = {
    onEnvCreated: (tenant) =>
      Effect.suspend(() => {
        recorded.push(tenant)
        return then(recorded)
      })
  }
  return { recorded, hooks }
}

describe("hooks for new tenants", () => {
  check(
    "run once, before the creation of the tenant returns, and may use all services",
    Effect.gen(function* () {
      const seen: Array<string> = []
      const { on, stop } = yield* startNode({
        onOrgCreated: (org) => Effect.sync(() => seen.push(`org ${org.slug}`)),
        onEnvCreated: ({ org, env }) =>
          Projects.use((projects) => projects.create({ name: "starter" })).pipe(
            Effect.provideService(Caller, hostIdentity(env.env_id)),
            Effect.andThen(Effect.sync(() => seen.push(`env ${org.slug}/${env.name}`)))
          )
      })
      const { env } = yield* on(ensure)
      assert.deepStrictEqual(seen, ["org acme", "env acme/production"])
      const project = Projects.use((projects) => projects.get("starter"))
      const found = yield* on(Effect.provideService(project, Caller, hostIdentity(env.env_id)))
      assert.strictEqual(found.name, "starter")
      yield* on(ensure)
      yield* on(Tenants.use((tenants) => tenants.createOrg({ slug: "other" })))
      yield* on(Tenants.use((tenants) => tenants.createEnv("other", { name: "staging" })))
      yield* TestClock.adjust("2 hours")
      assert.deepStrictEqual(seen, ["org acme", "env acme/production", "org other", "env other/staging"])
      assert.deepStrictEqual(yield* unconfirmed, [])
      yield* stop
    })
  )

  check(
    "that fail do not remove the tenant, and are retried until they succeed",
    Effect.gen(function* () {
      const { recorded, hooks } = recordHooks((all) => (all.length < 4 ? Effect.fail(new Error("later")) : Effect.void))
      const { on, stop } = yield* startNode(hooks)
      const tenant = yield* on(ensure)
      assert.strictEqual(recorded.length, 1)
      const counts: Array<number> = []
      for (const seconds of [59, 2, 118, 2, 238, 2, 86_400]) {
        yield* TestClock.adjust(`${seconds} seconds`)
        yield* settle
        counts.push(recorded.length)
      }
      assert.deepStrictEqual(counts, [1, 2, 2, 3, 3, 4, 4])
      assert.deepStrictEqual(recorded, [tenant, tenant, tenant, tenant])
      assert.deepStrictEqual(yield* unconfirmed, [])
      yield* stop
    })
  )

  check(
    "that throw are retried like those that fail",
    Effect.gen(function* () {
      const { recorded, hooks } = recordHooks((all) => {
        if (all.length === 1) throw new Error("a mistake")
        return Effect.void
      })
      const { on, stop } = yield* startNode(hooks)
      yield* on(ensure)
      yield* TestClock.adjust("3 minutes")
      yield* settle
      assert.strictEqual(recorded.length, 2)
      yield* stop
    })
  )

  check(
    "that never end time out after 30 seconds",
    Effect.gen(function* () {
      const { recorded, hooks } = recordHooks(() => Effect.never)
      const { on, stop } = yield* startNode(hooks)
      const creation = yield* Effect.forkChild(on(ensure))
      yield* TestClock.adjust("29 seconds")
      yield* settle
      assert.strictEqual(creation.pollUnsafe(), undefined)
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.strictEqual((yield* Fiber.join(creation)).org.slug, "acme")
      assert.strictEqual(recorded.length, 1)
      yield* stop
    })
  )

  check(
    "continue if the creation of the tenant is interrupted",
    Effect.gen(function* () {
      const [begun, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      let ended = 0
      const { hooks } = recordHooks(() =>
        Effect.andThen(
          Deferred.succeed(begun, undefined),
          Effect.andThen(
            Deferred.await(go),
            Effect.sync(() => ended++)
          )
        )
      )
      const { on, stop } = yield* startNode(hooks)
      const creation = yield* Effect.forkChild(on(ensure))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(creation)
      yield* Deferred.succeed(go, undefined)
      yield* settle
      assert.strictEqual(ended, 1)
      assert.deepStrictEqual(yield* unconfirmed, [])
      yield* stop
    })
  )

  check(
    "that a crashed node did not finish run on exactly one other node",
    Effect.gen(function* () {
      const lost = recordHooks(() => Effect.never)
      const first = yield* startNode(lost.hooks)
      yield* Effect.forkChild(first.on(ensure))
      yield* settle
      yield* first.stop
      assert.strictEqual((yield* unconfirmed).length, 1)

      const others = [recordHooks(), recordHooks(), recordHooks()]
      const nodes = yield* Effect.forEach(others, ({ hooks }) => startNode(hooks))
      yield* TestClock.adjust("50 seconds")
      assert.deepStrictEqual(
        others.flatMap(({ recorded }) => recorded),
        []
      )
      yield* TestClock.adjust("1 minute")
      yield* settle
      const recorded = others.flatMap((other) => other.recorded)
      assert.deepStrictEqual(
        recorded.map(({ env }) => env),
        lost.recorded.map(({ env }) => env)
      )
      yield* Effect.forEach(nodes, ({ stop }) => stop)
    })
  )

  check(
    "cost nothing if there are no hooks",
    Effect.gen(function* () {
      const { on, stop } = yield* startNode()
      yield* on(ensure)
      assert.deepStrictEqual(yield* unconfirmed, [])
      yield* stop
      const { recorded, hooks } = recordHooks()
      const later = yield* startNode(hooks)
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(recorded, [])
      yield* later.stop
    })
  )
})
