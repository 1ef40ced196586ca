/** Contract of `DomainStore` for claims and results of domain checks. */
import { assert } from "@effect/vitest"
import { type Domain, DomainStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { certificate, domain, domainId, routed } from "./DomainSamples.ts"
import { at, envId } from "./Samples.ts"

const insert = (...domains: ReadonlyArray<Domain>) =>
  DomainStore.use((store) => Effect.forEach(domains, (one) => store.insert(one, -1), { discard: true }))

const held = (of: Domain, until: number): Domain => ({
  ...of,
  next_check_at: at(until),
  held_until: at(until),
  version: of.version + 1
})

const ids = (domains: ReadonlyArray<Domain>) => domains.map(({ domain_id }) => domain_id).sort()

export const domainClaimChecks: ReadonlyArray<Check<DomainStore>> = [
  check("claims due domains, the longest due first, and holds them until the given time", function* () {
    const store = yield* DomainStore
    yield* insert(domain(30), domain(10), domain(20, { env_id: envId(2) }), domain(40))
    const { domains, next_due_at } = yield* store.claim({ now: at(30), until: at(500), limit: 2 })
    assert.deepStrictEqual(ids(domains), [domainId(10), domainId(20)])
    assert.deepStrictEqual(
      domains.find(({ domain_id }) => domain_id === domainId(10)),
      held(domain(10), 500)
    )
    assert.deepStrictEqual(yield* store.get(envId(1), domainId(10)), held(domain(10), 500))
    assert.strictEqual(next_due_at, at(30))
    const rest = yield* store.claim({ now: at(30), until: at(500), limit: 10 })
    assert.deepStrictEqual(ids(rest.domains), [domainId(30)])
    assert.strictEqual(rest.next_due_at, at(40))
  }),

  check("claims nothing when none is due, and returns when the next is", function* () {
    const store = yield* DomainStore
    assert.deepStrictEqual(yield* store.claim({ now: at(5), until: at(9), limit: 5 }), {
      domains: [],
      next_due_at: null
    })
    yield* insert(domain(10), domain(20))
    const early = yield* store.claim({ now: at(9), until: at(500), limit: 5 })
    assert.deepStrictEqual(early, { domains: [], next_due_at: at(10) })
    const both = yield* store.claim({ now: at(20), until: at(500), limit: 5 })
    assert.strictEqual(both.domains.length, 2)
    assert.isNull(both.next_due_at)
  }),

  check("makes a claimed domain due again when the hold expires", function* () {
    const store = yield* DomainStore
    yield* insert(domain(10))
    const [first] = (yield* store.claim({ now: at(10), until: at(500), limit: 5 })).domains
    assert.deepStrictEqual((yield* store.claim({ now: at(499), until: at(900), limit: 5 })).domains, [])
    const [second] = (yield* store.claim({ now: at(500), until: at(900), limit: 5 })).domains
    assert.deepStrictEqual(second, held(held(domain(10), 500), 900))
    assert.isDefined(first)
    assert.isFalse(yield* store.settle({ ...first, status: "validated" }, null))
    assert.strictEqual((yield* store.get(envId(1), domainId(10))).status, "pending_validation")
  }),

  check("twenty concurrent claims take each of ten domains once", function* () {
    const store = yield* DomainStore
    yield* insert(...Array.from({ length: 10 }, (_, index) => domain(index + 1)))
    const claim = store.claim({ now: at(100), until: at(500), limit: 1 })
    const claims = yield* Effect.replicateEffect(claim, 20, { concurrency: 20 })
    const claimed = claims.flatMap(({ domains }) => ids(domains))
    assert.strictEqual(claimed.length, 10)
    assert.strictEqual(new Set(claimed).size, 10)
  }),

  check("holds a domain, due or not, unless it is already held", function* () {
    const store = yield* DomainStore
    yield* insert(domain(100), domain(101))
    const first = yield* store.hold(envId(1), domainId(100), { now: at(5), until: at(50) })
    assert.deepStrictEqual(first, held(domain(100), 50))
    assert.isNull(yield* store.hold(envId(1), domainId(100), { now: at(49), until: at(90) }))
    assert.deepStrictEqual(
      yield* store.hold(envId(1), domainId(100), { now: at(50), until: at(90) }),
      held(held(domain(100), 50), 90)
    )
    yield* store.claim({ now: at(101), until: at(500), limit: 5 })
    assert.isNull(yield* store.hold(envId(1), domainId(101), { now: at(102), until: at(600) }))
    const missing = store.hold(envId(1), domainId(404), { now: at(5), until: at(50) })
    assert.strictEqual((yield* Effect.flip(missing))._tag, "NotFound")
  }),

  check("settle replaces the fields of a check once, and nothing else", function* () {
    const store = yield* DomainStore
    yield* insert(domain(10), domain(11))
    const mine = yield* store.hold(envId(1), domainId(10), { now: at(5), until: at(50) })
    assert.isNotNull(mine)
    const change = {
      status: "validated",
      routing_domain: "10.routing.example",
      checks: 3,
      next_check_at: at(77),
      held_until: null,
      failed_orders: 2,
      next_order_at: at(66)
    } as const
    const settled = { ...mine, ...change, env_id: envId(2), validation_cname_value: "other", created_at: at(99) }
    assert.isTrue(yield* store.settle(settled, null))
    assert.deepStrictEqual(yield* store.get(envId(1), domainId(10)), { ...domain(10), ...change, version: 2 })
    assert.isFalse(yield* store.settle(settled, null))
    assert.deepStrictEqual(yield* store.get(envId(1), domainId(11)), domain(11))
    assert.isFalse(yield* store.settle(domain(404), null))
  }),

  check("stores a certificate together with its check, in place of the old one", function* () {
    const store = yield* DomainStore
    yield* insert(domain(1), domain(2))
    assert.strictEqual((yield* Effect.flip(store.certificate(domainId(1)))).message, "There is no such certificate")
    assert.isTrue(yield* store.settle(domain(1), certificate(1)))
    assert.isTrue(yield* store.settle(domain(2), certificate(2)))
    assert.deepStrictEqual(yield* store.certificate(domainId(1)), certificate(1))
    const newer = certificate(1, { chain: "newer", not_after: at(180_000) })
    assert.isFalse(yield* store.settle(domain(1), newer))
    assert.deepStrictEqual(yield* store.certificate(domainId(1)), certificate(1))
    assert.isTrue(yield* store.settle({ ...domain(1), version: 1 }, newer))
    assert.deepStrictEqual(yield* store.certificate(domainId(1)), newer)
    assert.isTrue(yield* store.settle({ ...domain(1), version: 2 }, null))
    assert.deepStrictEqual(yield* store.certificate(domainId(1)), newer)
    assert.deepStrictEqual(yield* store.certificate(domainId(2)), certificate(2))
  }),

  check("beginRemoval takes a domain from a running check, and succeeds once", function* () {
    const store = yield* DomainStore
    yield* insert(routed(10, { checks: 4, held_until: at(500), next_check_at: at(500) }))
    const deleting = yield* store.beginRemoval(envId(1), domainId(10), at(20))
    const expected = routed(10, { status: "deleting", next_check_at: at(20), version: 1 })
    assert.deepStrictEqual(deleting, expected)
    assert.deepStrictEqual(yield* store.get(envId(1), domainId(10)), expected)
    assert.isFalse(yield* store.settle(routed(10), certificate(10)))
    assert.strictEqual((yield* Effect.flip(store.certificate(domainId(10))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.beginRemoval(envId(1), domainId(10), at(21))))._tag, "NotFound")
    assert.deepStrictEqual(ids((yield* store.claim({ now: at(20), until: at(90), limit: 5 })).domains), [domainId(10)])
  }),

  check("removes a deleting domain of the same version only, with its certificate", function* () {
    const store = yield* DomainStore
    yield* insert(routed(1), routed(2))
    yield* store.settle(routed(1), certificate(1))
    yield* store.settle(routed(2), certificate(2))
    assert.isFalse(yield* store.remove(routed(1, { version: 1 })))
    const deleting = yield* store.beginRemoval(envId(1), domainId(1), at(20))
    assert.isFalse(yield* store.remove({ ...deleting, version: 1 }))
    assert.deepStrictEqual(yield* store.certificate(domainId(1)), certificate(1))
    assert.isTrue(yield* store.remove(deleting))
    assert.isFalse(yield* store.remove(deleting))
    assert.strictEqual((yield* Effect.flip(store.get(envId(1), domainId(1))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.certificate(domainId(1))))._tag, "NotFound")
    assert.deepStrictEqual(yield* store.certificate(domainId(2)), certificate(2))
  })
]
