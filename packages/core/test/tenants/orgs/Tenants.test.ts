import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { firstPage } from "../../../src/foundation/Page.ts"
import { defaultPlans } from "../../../src/tenants/orgs/Plan.ts"
import { Plans } from "../../../src/tenants/orgs/Plans.ts"
import { TenantStore } from "../../../src/tenants/orgs/TenantStore.ts"
import { Tenants } from "../../../src/tenants/orgs/Tenants.ts"
import { crypto, failure, services } from "../../Services.ts"

const run = <A, E>(body: Effect.Effect<A, E, Layer.Success<ReturnType<typeof services>>>) =>
  Effect.provide(body, services())

const unknownId = "01890000-0000-7000-8000-000000000001"

describe("organizations", () => {
  it.effect("are created with defaults, found and updated", () =>
    run(
      Effect.gen(function* () {
        const tenants = yield* Tenants
        const org = yield* tenants.createOrg({ slug: "acme" })
        assert.deepInclude(org, { slug: "acme", name: "acme", plan: "Self-Host", members: 1 })
        const other = yield* tenants.createOrg({ slug: "other", name: "The Other", plan: "Pro" })
        assert.deepInclude(other, { name: "The Other", plan: "Pro" })
        for (const named of ["acme", org.org_id, org.org_id.toUpperCase()]) {
          assert.deepStrictEqual(yield* tenants.getOrg(named), org)
        }
        yield* TestClock.adjust(3)
        const changed = yield* tenants.updateOrg("acme", { plan: "Free", members: 4 })
        assert.deepInclude(changed, { name: "acme", plan: "Free", members: 4, slug: "acme" })
        assert.strictEqual(changed.updated_at - org.updated_at, 3)
        assert.deepStrictEqual(yield* tenants.getOrg(org.org_id), changed)
        const page = yield* tenants.listOrgs(firstPage)
        assert.deepStrictEqual(
          page.items.map((it) => it.slug),
          ["other", "acme"]
        )
      })
    )
  )

  it.effect("reject invalid input and slugs in use", () =>
    run(
      Effect.gen(function* () {
        const tenants = yield* Tenants
        yield* tenants.createOrg({ slug: "acme" })
        const slugs = ["", "Acme", "a b", "-a", "a-", "a.b", "a/b", "x".repeat(64), unknownId, "acme"]
        for (const slug of slugs) assert.strictEqual(yield* failure(tenants.createOrg({ slug })), "BadRequest")
        const changes = [
          { name: "" },
          { name: "x".repeat(129) },
          { plan: "Gold" },
          { members: -1 },
          { members: 1.5 },
          { members: Number.NaN }
        ]
        for (const change of changes) {
          assert.strictEqual(yield* failure(tenants.updateOrg("acme", change)), "BadRequest")
          assert.strictEqual(yield* failure(tenants.updateOrg("ghost", change)), "BadRequest")
        }
        assert.strictEqual(yield* failure(tenants.updateOrg("ghost", { name: "x" })), "NotFound")
        assert.strictEqual(yield* failure(tenants.getOrg("ACME")), "NotFound")
        yield* tenants.createOrg({ slug: "x".repeat(63) })
      })
    )
  )
})

describe("environments", () => {
  it.effect("belong to an organization and have unique names in it", () =>
    run(
      Effect.gen(function* () {
        const tenants = yield* Tenants
        const org = yield* tenants.createOrg({ slug: "acme" })
        yield* tenants.createOrg({ slug: "other" })
        const env = yield* tenants.createEnv("acme", { name: "production" })
        assert.deepInclude(env, { org_id: org.org_id, name: "production", active: true })
        assert.strictEqual(yield* failure(tenants.createEnv(org.org_id, { name: "production" })), "BadRequest")
        assert.strictEqual(yield* failure(tenants.createEnv("acme", { name: "Produc tion" })), "BadRequest")
        assert.strictEqual(yield* failure(tenants.createEnv("ghost", { name: "production" })), "NotFound")
        yield* tenants.createEnv("other", { name: "production" })
        assert.deepStrictEqual((yield* tenants.listEnvs("acme", firstPage)).items, [env])
        assert.deepStrictEqual(yield* tenants.getEnv(env.env_id.toUpperCase()), env)
        assert.strictEqual(yield* failure(tenants.getEnv(unknownId)), "NotFound")
        assert.strictEqual(yield* failure(tenants.getEnv("production")), "NotFound")
        assert.strictEqual(yield* failure(tenants.listEnvs("ghost", firstPage)), "NotFound")
      })
    )
  )
})

describe("webhook URLs", () => {
  /** Another node's tenants on the same store, with a count of its queries. */
  const counted = Effect.gen(function* () {
    const store = yield* TenantStore
    let finds = 0
    const layer = Layer.succeed(TenantStore, {
      ...store,
      findEnv: (org, name) => {
        finds++
        return store.findEnv(org, name)
      }
    })
    const context = yield* Layer.build(
      Layer.fresh(Tenants.layer).pipe(Layer.provide(Plans.layer()), Layer.provide([layer, crypto]))
    )
    return { tenants: yield* Effect.provide(Tenants, context), count: () => finds }
  })

  it.effect("resolve to the environment with one query", () =>
    run(
      Effect.gen(function* () {
        const { tenants, count } = yield* counted
        yield* tenants.createOrg({ slug: "acme" })
        assert.strictEqual(yield* failure(tenants.resolve("acme", "production")), "NotFound")
        const env = yield* tenants.createEnv("acme", { name: "production" })
        for (let n = 0; n < 10; n++) assert.deepStrictEqual(yield* tenants.resolve("acme", "production"), env)
        assert.strictEqual(count(), 2)
      }).pipe(Effect.scoped)
    )
  )

  it.effect("cause no query for invalid slugs, and one per second for unknown ones", () =>
    run(
      Effect.gen(function* () {
        const { tenants, count } = yield* counted
        yield* tenants.createOrg({ slug: "acme" })
        for (const [org, name] of [
          ["ACME", "production"],
          ["acme/production", ""],
          ["acme", "a/b"],
          ["", ""],
          ["../acme", "production"]
        ] as const) {
          assert.strictEqual(yield* failure(tenants.resolve(org, name)), "NotFound")
        }
        assert.strictEqual(count(), 0)
        for (let n = 0; n < 10; n++) yield* failure(tenants.resolve("acme", "ghost"))
        assert.strictEqual(count(), 1)
        yield* TestClock.adjust(1000)
        yield* failure(tenants.resolve("acme", "ghost"))
        assert.strictEqual(count(), 2)
      }).pipe(Effect.scoped)
    )
  )

  it.effect("resolve to environments that another node creates", () =>
    run(
      Effect.gen(function* () {
        const { tenants } = yield* counted
        const elsewhere = yield* Tenants
        yield* elsewhere.createOrg({ slug: "acme" })
        yield* failure(tenants.resolve("acme", "production"))
        const env = yield* elsewhere.createEnv("acme", { name: "production" })
        yield* Effect.repeat(Effect.yieldNow, { times: 10 })
        assert.deepStrictEqual(yield* tenants.resolve("acme", "production"), env)
      }).pipe(Effect.scoped)
    )
  )
})

describe("plans", () => {
  it("are those of the decisions", () => {
    const GiB = 1024 ** 3
    const durable = [10_000, 256 * 1024]
    const sourceBytes = new Map([
      ["Starter", 64 * 1024],
      ["Pro", 256 * 1024],
      ["Scale", 256 * 1024],
      ["Enterprise", 1024 * 1024],
      ["Self-Host", 1024 * 1024]
    ])
    const replSessions = new Map([
      ["Free", 0],
      ["Starter", 2],
      ["Pro", 10],
      ["Scale", 20],
      ["Enterprise", 100],
      ["Self-Host", 100]
    ])
    const previews = new Map([
      ["Free", 1],
      ["Starter", 5],
      ["Pro", 20],
      ["Scale", 100]
    ])
    const alertRules = new Map([
      ["Free", 5],
      ["Starter", 20],
      ["Pro", 100],
      ["Scale", 500]
    ])
    assert.deepStrictEqual(
      Object.entries(defaultPlans).map(
        ([
          name,
          { weakest_record, max_eval_source_bytes, max_repl_sessions, max_alert_rules, max_previews, ...limits }
        ]) => {
          assert.strictEqual(weakest_record, "none")
          assert.strictEqual(max_alert_rules, alertRules.get(name) ?? 1_000)
          assert.strictEqual(max_previews, previews.get(name) ?? 1_000)
          assert.strictEqual(max_repl_sessions, replSessions.get(name))
          assert.strictEqual(max_eval_source_bytes, sourceBytes.get(name) ?? 0)
          return [name, ...Object.values(limits)]
        }
      ),
      [
        ["Free", 5, 200, 0, GiB / 10.24, 10_000, GiB, 1, 7, GiB, 0, 100, ...durable, 100_000, 10_000, 1_000],
        ["Starter", 20, 1_000, 0, GiB, 100_000, 10 * GiB, 5, 14, 5 * GiB, 0, 100, ...durable, 100_000, 100_000, 10_000],
        [
          "Pro",
          100,
          5_000,
          0,
          5 * GiB,
          1_000_000,
          100 * GiB,
          20,
          30,
          50 * GiB,
          5,
          100,
          ...durable,
          100_000,
          250_000,
          25_000
        ],
        [
          ...["Scale", 500, 20_000, 0, 50 * GiB, 10_000_000, 1024 * GiB, 100, 90, 500 * GiB, 50, 100],
          ...[...durable, 100_000, 1_000_000, 100_000]
        ],
        ["Enterprise", -1, -1, 0, 50 * GiB, -1, -1, -1, -1, -1, -1, 1_000, ...durable, -1, 1_000_000, 100_000],
        ["Self-Host", -1, -1, 0, 50 * GiB, -1, -1, -1, -1, -1, -1, 1_000, ...durable, -1, 1_000_000, 100_000]
      ]
    )
  })
})
