/** Contract of `DomainStore`. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import { type Domain, DomainStore, type TenantStore } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { domainClaimChecks } from "./DomainClaimChecks.ts"
import { domainRouteChecks } from "./DomainRouteChecks.ts"
import { domain, domainId, routed } from "./DomainSamples.ts"
import { at, envId, everything, orgId } from "./Samples.ts"

export const domainStoreContract = <E>(adapter: string, layer: Layer.Layer<DomainStore | TenantStore, E>) =>
  suite(`DomainStore contract: ${adapter}`, domainStoreChecks, layer)

const tag = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)

const insert = (...domains: ReadonlyArray<Domain>) =>
  DomainStore.use((store) => Effect.forEach(domains, (one) => store.insert(one, -1), { discard: true }))

const registrationChecks: ReadonlyArray<Check<DomainStore>> = [
  check("returns a domain as it was stored", function* () {
    const store = yield* DomainStore
    const pending = domain(1, { checks: 3, held_until: at(9), failed_orders: 2, next_order_at: at(7), version: 4 })
    yield* insert(pending, routed(2))
    assert.deepStrictEqual(yield* store.get(envId(1), domainId(1)), pending)
    assert.deepStrictEqual(yield* store.get(envId(1), domainId(2)), routed(2))
    assert.strictEqual((yield* Effect.flip(store.get(envId(1), domainId(3)))).message, "There is no such domain")
  }),

  check("fails with NotFound for a domain of another environment", function* () {
    const store = yield* DomainStore
    yield* insert(domain(1))
    const claim = { now: at(5), until: at(9) }
    assert.strictEqual(yield* tag(store.get(envId(2), domainId(1))), "NotFound")
    assert.strictEqual(yield* tag(store.hold(envId(2), domainId(1), claim)), "NotFound")
    assert.strictEqual(yield* tag(store.beginRemoval(envId(2), domainId(1), at(5))), "NotFound")
    assert.deepStrictEqual(yield* store.list(envId(2), everything), { items: [], total: 0 })
    assert.deepStrictEqual(yield* store.get(envId(1), domainId(1)), domain(1))
  }),

  check("registers a name once in all environments, also while it is being deleted", function* () {
    const store = yield* DomainStore
    yield* insert(domain(1))
    const again = domain(2, { domain: domain(1).domain, env_id: envId(2), org_id: orgId(2) })
    assert.strictEqual(yield* tag(store.insert(again, -1)), "DomainExists")
    const deleting = yield* store.beginRemoval(envId(1), domainId(1), at(5))
    assert.strictEqual(yield* tag(store.insert(again, -1)), "DomainExists")
    yield* store.remove(deleting)
    yield* store.insert(again, -1)
    assert.deepStrictEqual(yield* store.get(envId(2), domainId(2)), again)
  }),

  check("lists domains in pages with the total, newest first", function* () {
    const store = yield* DomainStore
    yield* insert(domain(2), domain(4), domain(1), routed(3), domain(5, { env_id: envId(2) }))
    assert.deepStrictEqual(yield* store.list(envId(1), { limit: 2, offset: 1 }), {
      items: [routed(3), domain(2)],
      total: 4
    })
  }),

  check("enforces the domain limit of an organization over all its environments", function* () {
    const store = yield* DomainStore
    yield* store.insert(domain(1), 2)
    yield* store.insert(domain(2, { env_id: envId(2) }), 2)
    yield* store.insert(domain(3, { env_id: envId(3), org_id: orgId(2) }), 2)
    const refused = yield* Effect.flip(store.insert(domain(4), 2))
    assert.strictEqual(refused._tag === "DomainLimitReached" ? refused.limit : refused._tag, 2)
    assert.strictEqual(yield* tag(store.insert(domain(5, { domain: domain(1).domain }), 2)), "DomainLimitReached")
    assert.strictEqual(yield* tag(store.insert(domain(6, { org_id: orgId(3) }), 0)), "DomainLimitReached")
    yield* store.insert(domain(7), -1)
  }),

  check("does not count a domain that is being deleted", function* () {
    const store = yield* DomainStore
    yield* store.insert(domain(1), 1)
    yield* store.beginRemoval(envId(1), domainId(1), at(5))
    yield* store.insert(domain(2), 1)
    assert.strictEqual(yield* tag(store.insert(domain(3), 1)), "DomainLimitReached")
  }),

  check("accepts no more concurrent registrations than the limit", function* () {
    const store = yield* DomainStore
    const numbers = Array.from({ length: 10 }, (_, index) => index + 1)
    const exits = yield* Effect.forEach(numbers, (n) => Effect.exit(store.insert(domain(n), 3)), { concurrency: 10 })
    assert.strictEqual(exits.filter(({ _tag }) => _tag === "Success").length, 3)
    assert.strictEqual((yield* store.list(envId(1), everything)).total, 3)
  })
]

export const domainStoreChecks: ReadonlyArray<Check<DomainStore | TenantStore>> = [
  ...registrationChecks,
  ...domainClaimChecks,
  ...domainRouteChecks
]
