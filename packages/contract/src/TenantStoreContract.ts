/** Contract of `TenantStore`. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import { firstHookJob, nextHookJob, type TenantHookJob, TenantStore } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { at, env, envId, everything, hostileText, org, orgId } from "./Samples.ts"

export const tenantStoreContract = <E>(adapter: string, layer: Layer.Layer<TenantStore, E>) =>
  suite(`TenantStore contract: ${adapter}`, tenantStoreChecks, layer)

export const tenantStoreChecks: ReadonlyArray<Check<TenantStore>> = [
  check("finds an organization by id and by slug, as it was stored", function* () {
    const store = yield* TenantStore
    const acme = org(1, { slug: "acme", name: hostileText, plan: "Pro", members: 3, updated_at: at(9) })
    yield* store.insertOrg(org(2))
    yield* store.insertOrg(acme)
    assert.deepStrictEqual(yield* store.getOrg("acme"), acme)
    assert.deepStrictEqual(yield* store.getOrg(orgId(1)), acme)
  }),

  check("fails with NotFound for an unknown organization", function* () {
    const store = yield* TenantStore
    yield* store.insertOrg(org(1))
    assert.strictEqual((yield* Effect.flip(store.getOrg("nobody"))).message, "There is no such organization")
    assert.strictEqual((yield* Effect.flip(store.getOrg(orgId(404))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.updateOrg(org(404))))._tag, "NotFound")
  }),

  check("accepts a slug once, and the first organization keeps it", function* () {
    const store = yield* TenantStore
    yield* store.insertOrg(org(1, { slug: "acme" }))
    const error = yield* Effect.flip(store.insertOrg(org(2, { slug: "acme" })))
    assert.strictEqual(error._tag === "Taken" ? error.what : error._tag, "slug")
    assert.strictEqual((yield* store.getOrg("acme")).org_id, orgId(1))
    assert.strictEqual((yield* store.listOrgs(everything)).total, 1)
  }),

  check("lists organizations in pages with the total, newest first", function* () {
    const store = yield* TenantStore
    for (const n of [2, 5, 1, 4, 3]) yield* store.insertOrg(org(n))
    const all = yield* store.listOrgs(everything)
    assert.deepStrictEqual(
      all.items.map((item) => item.org_id),
      [5, 4, 3, 2, 1].map(orgId)
    )
    const page = yield* store.listOrgs({ limit: 2, offset: 1 })
    assert.deepStrictEqual(page, { items: [org(4), org(3)], total: 5 })
    assert.deepStrictEqual(yield* store.listOrgs({ limit: 2, offset: 9 }), { items: [], total: 5 })
  }),

  check("updateOrg replaces only name, plan, members and updated_at", function* () {
    const store = yield* TenantStore
    yield* store.insertOrg(org(1))
    yield* store.insertOrg(org(2))
    yield* store.updateOrg(
      org(1, { slug: "other", name: "New", plan: "Scale", members: 7, created_at: at(99), updated_at: at(50) })
    )
    const expected = org(1, { name: "New", plan: "Scale", members: 7, updated_at: at(50) })
    assert.deepStrictEqual(yield* store.getOrg(orgId(1)), expected)
    assert.deepStrictEqual(yield* store.getOrg("org-2"), org(2))
  }),

  check("finds an environment by id, and by slug and name", function* () {
    const store = yield* TenantStore
    yield* store.insertOrg(org(1, { slug: "acme" }))
    yield* store.insertOrg(org(2, { slug: "bolt" }))
    const production = env(1, { name: "production", active: false })
    yield* store.insertEnv(production)
    yield* store.insertEnv(env(2, { org_id: orgId(2), name: "production" }))
    assert.deepStrictEqual(yield* store.getEnv(envId(1)), production)
    assert.deepStrictEqual(yield* store.findEnv("acme", "production"), production)
    assert.strictEqual((yield* store.findEnv("bolt", "production")).env_id, envId(2))
  }),

  check("fails with NotFound for an unknown environment", function* () {
    const store = yield* TenantStore
    yield* store.insertOrg(org(1, { slug: "acme" }))
    yield* store.insertOrg(org(2, { slug: "bolt" }))
    yield* store.insertEnv(env(1, { name: "production" }))
    assert.strictEqual((yield* Effect.flip(store.getEnv(envId(404)))).message, "There is no such environment")
    assert.strictEqual((yield* Effect.flip(store.findEnv("acme", "staging")))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.findEnv("bolt", "production")))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.findEnv("nobody", "production")))._tag, "NotFound")
  }),

  check("accepts an environment's name once in each organization", function* () {
    const store = yield* TenantStore
    yield* store.insertOrg(org(1))
    yield* store.insertOrg(org(2))
    yield* store.insertEnv(env(1, { name: "production" }))
    yield* store.insertEnv(env(2, { name: "production", org_id: orgId(2) }))
    const error = yield* Effect.flip(store.insertEnv(env(3, { name: "production" })))
    assert.strictEqual(error._tag === "Taken" ? error.what : error._tag, "environment name")
    assert.strictEqual((yield* Effect.flip(store.getEnv(envId(3))))._tag, "NotFound")
  }),

  check("lists the environments of an organization in pages, newest first", function* () {
    const store = yield* TenantStore
    yield* store.insertOrg(org(1))
    yield* store.insertOrg(org(2))
    for (const n of [3, 1, 2]) yield* store.insertEnv(env(n))
    yield* store.insertEnv(env(4, { org_id: orgId(2) }))
    assert.deepStrictEqual(yield* store.listEnvs(orgId(1), { limit: 2, offset: 0 }), {
      items: [env(3), env(2)],
      total: 3
    })
    assert.deepStrictEqual(yield* store.listEnvs(orgId(1), { limit: 2, offset: 2 }), { items: [env(1)], total: 3 })
    assert.deepStrictEqual(yield* store.listEnvs(orgId(404), everything), { items: [], total: 0 })
  }),

  check("stores a hook job with its tenant, due at its time", function* () {
    const store = yield* TenantStore
    const [first, second] = [firstHookJob("org", orgId(1), at(2)), firstHookJob("env", envId(1), at(1))]
    yield* store.insertOrg(org(1), first)
    yield* store.insertEnv(env(1), second)
    yield* store.insertOrg(org(2))
    yield* store.insertEnv(env(2))
    assert.deepStrictEqual(yield* store.dueHookJobs(both, at(1), 10), [])
    assert.deepStrictEqual(yield* store.dueHookJobs(both, second.due_at, 10), [second])
    assert.deepStrictEqual(yield* store.dueHookJobs(both, first.due_at, 10), [second, first])
    assert.deepStrictEqual(yield* store.dueHookJobs(both, first.due_at, 1), [second])
    assert.deepStrictEqual(yield* store.dueHookJobs(["org"], first.due_at, 1), [first])
  }),

  check("returns hook jobs that are due at the same time by tenant id", function* () {
    const store = yield* TenantStore
    const all = [1, 2, 3].map((n) => firstHookJob("org", orgId(n), at(1)))
    for (const n of [2, 3, 1]) yield* store.insertOrg(org(n), findHookJob(all, n))
    assert.deepStrictEqual(yield* store.dueHookJobs(both, at(99_999), 10), all)
  }),

  check("stores no hook job for a rejected tenant", function* () {
    const store = yield* TenantStore
    yield* store.insertOrg(org(1, { slug: "acme" }))
    yield* store.insertEnv(env(1, { name: "production" }))
    yield* Effect.flip(store.insertOrg(org(2, { slug: "acme" }), firstHookJob("org", orgId(2), at(1))))
    yield* Effect.flip(store.insertEnv(env(2, { name: "production" }), firstHookJob("env", envId(2), at(1))))
    assert.deepStrictEqual(yield* store.dueHookJobs(both, at(99_999), 10), [])
  }),

  check("lets exactly one caller make the next attempt of a hook job", function* () {
    const store = yield* TenantStore
    const [stored, other] = [firstHookJob("org", orgId(1), at(1)), firstHookJob("org", orgId(2), at(1))]
    yield* store.insertOrg(org(1), stored)
    yield* store.insertOrg(org(2), other)
    const next = nextHookJob(stored, at(9))
    const made = yield* Effect.replicateEffect(store.updateHookJob(next), 8, { concurrency: 8 })
    assert.strictEqual(made.filter((one) => one).length, 1)
    assert.isFalse(yield* store.updateHookJob(nextHookJob(nextHookJob(next, at(9)), at(9))))
    assert.sameDeepMembers([...(yield* store.dueHookJobs(both, at(99_999_999), 10))], [next, other])
  }),

  check("removes a completed hook job", function* () {
    const store = yield* TenantStore
    const [first, second] = [firstHookJob("org", orgId(1), at(1)), firstHookJob("org", orgId(2), at(1))]
    yield* store.insertOrg(org(1), first)
    yield* store.insertOrg(org(2), second)
    yield* store.removeHookJob(orgId(1))
    yield* store.removeHookJob(orgId(1))
    assert.isFalse(yield* store.updateHookJob(nextHookJob(first, at(2))))
    assert.deepStrictEqual(yield* store.dueHookJobs(both, at(99_999), 10), [second])
  })
]

const both: ReadonlyArray<TenantHookJob["kind"]> = ["org", "env"]

const findHookJob = (all: ReadonlyArray<TenantHookJob>, n: number): TenantHookJob => {
  const announcement = all[n - 1]
  assert.isDefined(announcement)
  return announcement
}
