/** Contract of `DomainStore` for the routes of requests. */
import { assert } from "@effect/vitest"
import { type DomainStatus, DomainStore, TenantStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { certificate, domain, domainId, routed } from "./DomainSamples.ts"
import { at, env, envId, org, orgId } from "./Samples.ts"

const tenants = Effect.gen(function* () {
  const store = yield* TenantStore
  yield* store.insertOrg(org(1, { slug: "acme" }))
  yield* store.insertOrg(org(2, { slug: "rival" }))
  yield* store.insertEnv(env(1, { name: "prod" }))
  yield* store.insertEnv(env(2, { name: "prod", org_id: orgId(2) }))
})

const states: ReadonlyArray<DomainStatus> = ["pending_validation", "validated", "provisioning", "active", "deleting"]

export const domainRouteChecks: ReadonlyArray<Check<DomainStore | TenantStore>> = [
  check("routes a domain from validation until its deletion begins, in every environment", function* () {
    yield* tenants
    const store = yield* DomainStore
    for (const [index, status] of states.entries()) yield* store.insert(routed(index + 1, { status }), -1)
    const theirs = routed(6, { env_id: envId(2), org_id: orgId(2) })
    yield* store.insert(theirs, -1)
    const expected = [
      ...[2, 3, 4].map((n) => ({ domain: domain(n).domain, org_slug: "acme", env_name: "prod" })),
      { domain: theirs.domain, org_slug: "rival", env_name: "prod" }
    ]
    const found = [...(yield* store.routes)].sort((a, b) => (a.domain < b.domain ? -1 : 1))
    assert.deepStrictEqual(found, expected)
    for (const route of expected) assert.deepStrictEqual(yield* store.route(route.domain), route)
    for (const name of [domain(1).domain, domain(5).domain, "D2.example.com", "x.d2.example.com", ""]) {
      assert.strictEqual((yield* Effect.flip(store.route(name)))._tag, "NotFound", name)
    }
  }),

  check("returns the certificate of a name while it is routed", function* () {
    yield* tenants
    const store = yield* DomainStore
    yield* store.insert(domain(1), -1)
    yield* store.insert(routed(2), -1)
    yield* store.insert(routed(3), -1)
    yield* store.settle(domain(1), certificate(1))
    yield* store.settle(routed(2), certificate(2))
    assert.deepStrictEqual(yield* store.certificateOf(domain(2).domain), certificate(2))
    for (const name of [domain(1).domain, domain(3).domain, "unknown.example.com"]) {
      assert.strictEqual((yield* Effect.flip(store.certificateOf(name)))._tag, "NotFound", name)
    }
    yield* store.beginRemoval(envId(1), domainId(2), at(9))
    assert.strictEqual((yield* Effect.flip(store.certificateOf(domain(2).domain)))._tag, "NotFound")
  })
]
