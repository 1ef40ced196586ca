/** What a host is told of new tenants: at least once each, in virtual time. */
import { assert, describe } from "@effect/vitest"
import { Caller, hostIdentity, Projects, type Tenant, TenantStore, Tenants, Timestamp } from "@weft/core"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { settle } from "../world.ts"
import { born, check, type Provisioning } from "./Place.ts"

const ensure = Tenants.use((tenants) => tenants.ensure({ org: "acme", env: "production" }))

const untold = TenantStore.use((store) =>
  store.dueAnnouncements(["org", "env"], Timestamp.make(Number.MAX_SAFE_INTEGER), 100)
)

/** A host that notes of which environments it was told, and then does this. */
const noting = (then: (told: Array<Tenant>) => Effect.Effect<unknown, unknown> = () => Effect.void) => {
  const told: Array<Tenant> = []
  const hooks: Provisioning = {
    onEnvCreated: (tenant) =>
      Effect.suspend(() => {
        told.push(tenant)
        return then(told)
      })
  }
  return { told, hooks }
}

describe("hooks of new tenants", () => {
  check(
    "run once, before whoever made the tenant goes on, and may use all that Weft offers",
    Effect.gen(function* () {
      const seen: Array<string> = []
      const { on, die } = yield* born({
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
      assert.deepStrictEqual(yield* untold, [])
      yield* die
    })
  )

  check(
    "that fail leave the tenant, and run again until they do not",
    Effect.gen(function* () {
      const { told, hooks } = noting((all) => (all.length < 4 ? Effect.fail(new Error("later")) : Effect.void))
      const { on, die } = yield* born(hooks)
      const tenant = yield* on(ensure)
      assert.strictEqual(told.length, 1)
      const counts: Array<number> = []
      for (const seconds of [59, 2, 118, 2, 238, 2, 86_400]) {
        yield* TestClock.adjust(`${seconds} seconds`)
        yield* settle
        counts.push(told.length)
      }
      assert.deepStrictEqual(counts, [1, 2, 2, 3, 3, 4, 4])
      assert.deepStrictEqual(told, [tenant, tenant, tenant, tenant])
      assert.deepStrictEqual(yield* untold, [])
      yield* die
    })
  )

  check(
    "that throw are as those that fail",
    Effect.gen(function* () {
      const { told, hooks } = noting((all) => {
        if (all.length === 1) throw new Error("a mistake")
        return Effect.void
      })
      const { on, die } = yield* born(hooks)
      yield* on(ensure)
      yield* TestClock.adjust("3 minutes")
      yield* settle
      assert.strictEqual(told.length, 2)
      yield* die
    })
  )

  check(
    "that do not end keep nobody waiting for more than 30 seconds",
    Effect.gen(function* () {
      const { told, hooks } = noting(() => Effect.never)
      const { on, die } = yield* born(hooks)
      const made = yield* Effect.forkChild(on(ensure))
      yield* TestClock.adjust("29 seconds")
      yield* settle
      assert.strictEqual(made.pollUnsafe(), undefined)
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.strictEqual((yield* Fiber.join(made)).org.slug, "acme")
      assert.strictEqual(told.length, 1)
      yield* die
    })
  )

  check(
    "go on when whoever made the tenant goes away",
    Effect.gen(function* () {
      const [begun, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      let ended = 0
      const { hooks } = noting(() =>
        Effect.andThen(
          Deferred.succeed(begun, undefined),
          Effect.andThen(
            Deferred.await(go),
            Effect.sync(() => ended++)
          )
        )
      )
      const { on, die } = yield* born(hooks)
      const made = yield* Effect.forkChild(on(ensure))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(made)
      yield* Deferred.succeed(go, undefined)
      yield* settle
      assert.strictEqual(ended, 1)
      assert.deepStrictEqual(yield* untold, [])
      yield* die
    })
  )

  check(
    "that a node took with it when it died run on another, and on one only",
    Effect.gen(function* () {
      const lost = noting(() => Effect.never)
      const first = yield* born(lost.hooks)
      yield* Effect.forkChild(first.on(ensure))
      yield* settle
      yield* first.die
      assert.strictEqual((yield* untold).length, 1)

      const others = [noting(), noting(), noting()]
      const nodes = yield* Effect.forEach(others, ({ hooks }) => born(hooks))
      yield* TestClock.adjust("50 seconds")
      assert.deepStrictEqual(
        others.flatMap(({ told }) => told),
        []
      )
      yield* TestClock.adjust("1 minute")
      yield* settle
      const told = others.flatMap((other) => other.told)
      assert.deepStrictEqual(
        told.map(({ env }) => env),
        lost.told.map(({ env }) => env)
      )
      yield* Effect.forEach(nodes, ({ die }) => die)
    })
  )

  check(
    "cost nothing where there are none",
    Effect.gen(function* () {
      const { on, die } = yield* born()
      yield* on(ensure)
      assert.deepStrictEqual(yield* untold, [])
      yield* die
      const { told, hooks } = noting()
      const later = yield* born(hooks)
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(told, [])
      yield* later.die
    })
  )
})
