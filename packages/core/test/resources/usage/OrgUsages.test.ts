import { assert, describe, it } from "@effect/vitest"
import type { Env, PlanName, PlanOverrides } from "@weft/core"
import { type OrgUsage, OrgUsages, Plans } from "@weft/core"
import { FileStore, TenantStore, UsageStore } from "@weft/core/adapter"
import { defaultPlans } from "@weft/core/internal"
import { MemoryStores } from "@weft/core/testing"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Tenants } from "../../../src/tenants/orgs/Tenants.ts"
import { as, crypto, failure } from "../../Services.ts"

interface Used {
  readonly runs?: number
  readonly files?: number
  readonly members?: number
  readonly results?: number
}

/** Returns the usage of an organization with these counts. */
const readUsage = (
  { runs = 0, files = 0, members = 1, results = 0 }: Used,
  plan: PlanName,
  plans: PlanOverrides = {}
) =>
  Effect.gen(function* () {
    const tenants = yield* Tenants
    const org = yield* tenants.createOrg({ slug: "acme", plan })
    yield* tenants.updateOrg("acme", { members })
    const env = yield* tenants.createEnv("acme", { name: "production" })
    const usage = yield* get(env)
    assert.strictEqual(usage.org_id, org.org_id)
    return usage
  }).pipe(
    Effect.provide(
      OrgUsages.layer.pipe(
        Layer.provideMerge(Tenants.layer),
        Layer.provideMerge(Plans.layer(plans)),
        Layer.provide(
          Layer.succeed(UsageStore, {
            pendingDeliveries: () => Effect.succeed(0),
            dynamicSchedules: () => Effect.succeed(0),
            suspended: () => Effect.succeed(0),
            runs: () => Effect.succeed({ runs_this_period: runs, call_count: 12, call_storage_bytes: results })
          })
        ),
        Layer.provide(
          Layer.effect(
            FileStore,
            Effect.map(FileStore, (store) => ({ ...store, storageBytes: () => Effect.succeed(files) }))
          )
        ),
        Layer.provideMerge(MemoryStores.layer),
        Layer.provide(crypto)
      )
    )
  )

const get = ({ env_id }: Env) => as(env_id)(OrgUsages.use((usages) => usages.get))

const percent = (usage: OrgUsage) => usage.usage_percent

describe("the usage of an organization", () => {
  it.effect("contains the usage and the limits", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2028, 1, 29, 23, 59, 59, 999))
      const { usage, limits, usage_percent, plan } = yield* readUsage(
        { runs: 25_000, files: 1024 ** 3, members: 2, results: 7 },
        "Starter"
      )
      assert.deepStrictEqual(usage, {
        runs_this_period: 25_000,
        file_storage_bytes: 1024 ** 3,
        team_members: 2,
        call_storage_bytes: 7,
        call_count: 12
      })
      const { runs_per_month, storage_bytes, team_members, call_retention_days, call_storage_bytes } =
        defaultPlans.Starter
      assert.deepStrictEqual(limits, {
        runs_per_month,
        storage_bytes,
        team_members,
        call_retention_days,
        call_storage_bytes
      })
      assert.deepStrictEqual(usage_percent, {
        runs: 25,
        file_storage: 10,
        team_members: 40,
        call_storage: 0,
        has_warning: false
      })
      assert.deepStrictEqual(plan, {
        name: "Starter",
        period_start: Date.UTC(2028, 1, 1),
        period_end: Date.UTC(2028, 2, 1)
      })
    })
  )

  it.effect("contains unlimited limits without a subscription", () =>
    Effect.gen(function* () {
      const { limits, usage_percent, plan } = yield* readUsage(
        { runs: 10 ** 9, files: 10 ** 15, members: 5000, results: 10 ** 15 },
        "Self-Host"
      )
      assert.deepStrictEqual([...new Set(Object.values(limits))], [-1])
      assert.deepStrictEqual(usage_percent, {
        runs: 0,
        file_storage: 0,
        team_members: 0,
        call_storage: 0,
        has_warning: false
      })
      assert.strictEqual(plan.name, "Self-Host")
    })
  )

  for (const [claim, used, warning] of [
    ["90 percent is no warning", { runs: 9000 }, false],
    ["more than 90 percent of the runs is one", { runs: 9001 }, true],
    ["of the files", { files: 1024 ** 3 }, true],
    ["of the members", { members: 3 }, true],
    ["of the results", { results: 0.91 * 1024 ** 3 }, true]
  ] as const) {
    it.effect(claim, () =>
      Effect.gen(function* () {
        const usage = yield* readUsage(used, "Free", { Free: { team_members: 3 } })
        assert.strictEqual(percent(usage).has_warning, warning)
      })
    )
  }

  it.effect("may exceed 100 percent, with two decimals", () =>
    Effect.gen(function* () {
      const usage = yield* readUsage({ runs: 3, files: 5 }, "Free", { Free: { runs_per_month: 7, storage_bytes: 2 } })
      assert.deepInclude(percent(usage), { runs: 42.86, file_storage: 250, has_warning: true })
    })
  )

  it.effect("is 100 percent for any usage of a limit of 0", () =>
    Effect.gen(function* () {
      const plans = { Free: { runs_per_month: 0, storage_bytes: 0 } }
      assert.deepInclude(percent(yield* readUsage({ runs: 1 }, "Free", plans)), { runs: 100, file_storage: 0 })
    })
  )

  it.effect("needs env: read", () =>
    Effect.gen(function* () {
      const tenants = yield* TenantStore
      assert.strictEqual((yield* tenants.listOrgs({ limit: 1, offset: 0 })).total, 0)
      const env = yield* Effect.andThen(
        Tenants.use((service) => service.createOrg({ slug: "acme" })),
        Tenants.use((service) => service.createEnv("acme", { name: "production" }))
      )
      const usages = yield* OrgUsages
      assert.strictEqual(yield* failure(as(env.env_id, { "run:*": ["read"] })(usages.get)), "Forbidden")
      assert.strictEqual((yield* as(env.env_id, { "env:*": ["read"] })(usages.get)).plan.name, "Self-Host")
    }).pipe(
      Effect.provide(
        Layer.mergeAll(OrgUsages.layer, Tenants.layer).pipe(
          Layer.provide(Plans.layer()),
          Layer.provideMerge(MemoryStores.layer),
          Layer.provide(crypto)
        )
      )
    )
  )
})
