import { assert, describe, it } from "@effect/vitest"
import type { Env } from "@weft/core"
import { DomainRoutes, Domains, KeyRotation } from "@weft/core"
import { type Domain, DomainStore } from "@weft/core/adapter"
import { DomainCertificates, domainsLayer } from "@weft/core/internal"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { as, failure, newEnv } from "../../Services.ts"
import {
  add,
  after,
  day,
  get,
  hour,
  minute,
  remove,
  SimulatedNetwork,
  servicesOn,
  settle,
  until,
  validated,
  verify
} from "./SimulatedNetwork.ts"

type World = Layer.Success<ReturnType<typeof servicesOn>>

const check = <E>(claim: string, body: (network: SimulatedNetwork, env: Env) => Effect.Effect<void, E, World>) =>
  it.effect(claim, () => {
    const network = new SimulatedNetwork()
    return Effect.gen(function* () {
      yield* body(network, yield* newEnv("acme"))
    }).pipe(Effect.provide(servicesOn(network)))
  })

const status = (domain: Domain) => Effect.map(get(domain), (current) => current.status)

const routeOf = (name: string) => DomainRoutes.use((routes) => routes.resolve(name))

const countLookUps = (network: SimulatedNetwork, name: string): number =>
  network.lookUps.filter((lookUp) => lookUp === name).length

describe("the status of a domain", () => {
  check(
    "is validated with its record, then provisioning, and active when the name resolves to its target",
    (network, env) =>
      Effect.gen(function* () {
        const domain = yield* add(env, "hooks.example.com")
        const verification = yield* verify(domain)
        assert.strictEqual(verification.domain.status, "pending_validation")
        assert.include(verification.message, domain.validation_cname_name)
        assert.include(verification.message, domain.validation_cname_value)
        assert.isNull((yield* get(domain)).routing_domain)

        network.prove(domain)
        const proven = yield* verify(domain)
        assert.strictEqual(proven.domain.status, "validated")
        assert.match(proven.domain.routing_domain ?? "", /^[0-9a-f]{32}\.routing\.weft\.example$/)
        assert.include(proven.message, proven.domain.routing_domain ?? "?")
        yield* settle
        assert.strictEqual(yield* status(domain), "provisioning")
        assert.deepStrictEqual(network.prepared, [proven.domain.routing_domain ?? "?"])

        network.route(proven.domain)
        yield* after(2 * minute)
        assert.strictEqual(yield* status(domain), "active")
        assert.strictEqual((yield* verify(domain)).message, "The domain is active.")
      })
  )

  check("also advances in the background, with any spelling of names in DNS", (network, env) =>
    Effect.gen(function* () {
      const domain = yield* add(env, "hooks.example.com")
      network.cnames.set(domain.validation_cname_name, [`${domain.validation_cname_value.toUpperCase()}.`])
      yield* after(59_000)
      assert.strictEqual(yield* status(domain), "pending_validation")
      yield* after(1_000)
      assert.strictEqual(yield* status(domain), "provisioning")
    })
  )

  check("is checked at growing intervals, from a minute to an hour, without end", (network, env) =>
    Effect.gen(function* () {
      const domain = yield* add(env, "hooks.example.com")
      const times: Array<number> = []
      for (let passed = 1; passed <= 400; passed++) {
        const before = countLookUps(network, domain.validation_cname_name)
        yield* after(minute)
        if (countLookUps(network, domain.validation_cname_name) > before) times.push(passed)
      }
      assert.deepStrictEqual(times.slice(0, 7), [1, 2, 4, 8, 16, 32, 64])
      assert.deepStrictEqual(
        times.slice(7).map((time, index) => time - (times[index + 6] ?? 0)),
        times.slice(7).map(() => 60)
      )
      assert.isAbove(times.length, 10)
      // A verification resets the back-off of the background checks.
      yield* verify(domain)
      network.prove(domain)
      yield* after(minute)
      assert.strictEqual(yield* status(domain), "provisioning")
    })
  )

  check("has a message about the next step", (network, env) =>
    Effect.gen(function* () {
      const domain = yield* add(env, "hooks.example.com")
      const message = Effect.map(verify(domain), ({ message }) => message)
      assert.include(yield* message, "Not validated yet: add the CNAME record")
      network.cnames.set(domain.validation_cname_name, ["elsewhere.example"])
      assert.include(yield* message, "points to something else")
      network.dnsAnswers = false
      assert.include(yield* message, "the DNS did not answer")
      network.dnsAnswers = true
      network.prove(domain)
      network.authority = "refuses"
      const refused = yield* message
      assert.include(refused, "the authority refused")
      assert.notInclude(refused, "secret of ours")
      for (const part of [domain.validation_cname_name, domain.validation_cname_value]) assert.include(refused, part)
      assert.strictEqual(yield* status(domain), "pending_validation")
    })
  )

  check("becomes active by the target's addresses, where no CNAME is possible", (network, env) =>
    Effect.gen(function* () {
      const domain = yield* validated(network, env, "example.com")
      network.addresses.set("example.com", ["203.0.113.7", "203.0.113.9"])
      network.addresses.set(domain.routing_domain ?? "", ["203.0.113.7", "203.0.113.8"])
      yield* after(5 * minute)
      assert.strictEqual(yield* status(domain), "provisioning")
      network.addresses.set("example.com", ["203.0.113.8"])
      yield* after(10 * minute)
      assert.strictEqual(yield* status(domain), "active")
    })
  )

  check("does not change during an outage of routing or DNS", (network, env) =>
    Effect.gen(function* () {
      network.routingAnswers = false
      const domain = yield* validated(network, env, "hooks.example.com")
      assert.strictEqual(domain.status, "validated")
      network.routingAnswers = true
      network.dnsAnswers = false
      yield* after(5 * minute)
      assert.strictEqual(yield* status(domain), "provisioning")
      network.dnsAnswers = true
      network.route(domain)
      yield* after(15 * minute)
      assert.strictEqual(yield* status(domain), "active")
    })
  )
})

describe("the certificate of a domain", () => {
  check("is issued before the domain is validated, and stored encrypted", (network, env) =>
    Effect.gen(function* () {
      network.authority = "issues"
      const domain = yield* validated(network, env, "hooks.example.com")
      assert.deepStrictEqual(network.issued, [`hooks.example.com ${domain.validation_cname_value}`])
      const open = yield* DomainCertificates.use((certificates) => certificates.of("Hooks.Example.com"))
      assert.deepStrictEqual([open.chain, Redacted.value(open.privateKey)], ["chain 1 of hooks.example.com", "key 1"])
      const certificate = yield* DomainStore.use((store) => store.certificate(domain.domain_id))
      assert.notInclude(JSON.stringify(certificate), "key 1")
      assert.strictEqual((yield* KeyRotation.use((rotation) => rotation.rotateKeys)).unreadable, 0)
      const none = DomainCertificates.use((certificates) => certificates.of("other.example.com"))
      assert.strictEqual(yield* failure(none), "NotFound")
    })
  )

  check("is renewed in time, and retried until that succeeds", (network, env) =>
    Effect.gen(function* () {
      network.authority = "issues"
      network.lifeMs = 6 * hour
      const domain = yield* validated(network, env, "hooks.example.com")
      network.route(domain)
      yield* after(3.9 * hour)
      assert.strictEqual(yield* status(domain), "active")
      assert.strictEqual(network.issued.length, 1)
      const chain = Effect.map(
        DomainCertificates.use((certificates) => certificates.of("hooks.example.com")),
        (open) => open.chain
      )
      network.authority = "refuses"
      yield* after(0.5 * hour)
      assert.isAbove(network.issued.length, 3)
      assert.isBelow(network.issued.length, 8)
      assert.strictEqual(yield* status(domain), "active")
      assert.strictEqual(yield* chain, "chain 1 of hooks.example.com")
      network.authority = "issues"
      yield* after(hour)
      const renewed = network.issued.length
      yield* until(Effect.map(chain, (current) => current === `chain ${renewed} of hooks.example.com`))
      yield* after(2 * hour)
      assert.strictEqual(network.issued.length, renewed)
    })
  )

  check("is issued within a day for domains that had none", (network, env) =>
    Effect.gen(function* () {
      const domain = yield* validated(network, env, "hooks.example.com")
      network.route(domain)
      yield* after(5 * minute)
      const before = network.issued.length
      network.authority = "issues"
      yield* after(day, 10 * minute)
      assert.strictEqual(network.issued.length, before + 1)
      const certificate = DomainCertificates.use((certificates) => certificates.of("hooks.example.com"))
      yield* until(Effect.isSuccess(certificate))
    })
  )

  check("is not ordered for every request", (network, env) =>
    Effect.gen(function* () {
      network.authority = "refuses"
      const domain = yield* add(env, "hooks.example.com")
      network.prove(domain)
      for (let n = 0; n < 20; n++) yield* verify(domain)
      assert.strictEqual(network.issued.length, 1)
      yield* TestClock.adjust("61 seconds")
      for (let n = 0; n < 20; n++) yield* verify(domain)
      assert.isAtMost(network.issued.length, 2)
    })
  )

  /** Verifies the fifty-first domain, whose certificate is not ordered. */
  const refused = Effect.fnUntraced(function* (network: SimulatedNetwork, env: Env) {
    assert.strictEqual(network.issued.length, 50)
    const domain = yield* add(env, "late.example.com")
    network.prove(domain)
    assert.include((yield* verify(domain)).message, "has ordered 50 certificates within an hour")
    assert.strictEqual(network.issued.length, 50)
    return domain
  })

  check("is ordered a limited number of times per hour for an organization, and later after that", (network, env) =>
    Effect.gen(function* () {
      network.authority = "issues"
      for (let n = 0; n < 50; n++) {
        const domain = yield* validated(network, env, `hooks${n}.example.com`)
        yield* remove(domain)
        yield* settle
      }
      const domain = yield* refused(network, env)
      yield* after(2 * hour)
      assert.notStrictEqual(yield* status(domain), "pending_validation")
      // An order that is not stored before its reservation ends is repeated; virtual time may pass faster than real cryptography.
      assert.include([51, 52], network.issued.length)
    })
  )

  check(
    "counts against the organization while the order is in progress, also when its name is removed",
    (network, env) =>
      Effect.gen(function* () {
        network.authority = "never answers"
        for (let n = 0; n < 50; n++) {
          const domain = yield* add(env, `hooks${n}.example.com`)
          network.prove(domain)
          yield* Effect.forkScoped(verify(domain))
          yield* settle
          yield* remove(domain)
          yield* settle
        }
        yield* refused(network, env)
      }).pipe(Effect.scoped)
  )

  check("may take longer than the request waits", (network, env) =>
    Effect.gen(function* () {
      network.authority = "never answers"
      const domain = yield* add(env, "hooks.example.com")
      network.prove(domain)
      const verification = yield* Effect.forkChild(verify(domain))
      yield* after(16_000)
      const { domain: current, message } = yield* Fiber.join(verification)
      assert.strictEqual(current.status, "pending_validation")
      assert.include(message, "in progress")
      assert.include(message, domain.validation_cname_value)
      // No concurrent check of it starts.
      assert.include((yield* verify(domain)).message, "in progress")
      assert.strictEqual(network.issued.length, 1)
    })
  )
})

describe("a deleted domain", () => {
  check("is removed with its resources", (network, env) =>
    Effect.gen(function* () {
      network.authority = "issues"
      const domain = yield* validated(network, env, "hooks.example.com")
      yield* remove(domain)
      assert.isNull(yield* routeOf("hooks.example.com"))
      yield* settle
      assert.strictEqual(yield* failure(get(domain)), "NotFound")
      assert.deepStrictEqual(network.removed, [domain.routing_domain ?? "?"])
      assert.deepStrictEqual(network.revoked, ["chain 1 of hooks.example.com"])
      const certificate = DomainStore.use((store) => store.certificate(domain.domain_id))
      assert.strictEqual(yield* failure(certificate), "NotFound")
      yield* add(env, "hooks.example.com")
    })
  )

  check("retries the release of its resources, but revokes its certificate a limited number of times", (network, env) =>
    Effect.gen(function* () {
      network.authority = "issues"
      const domain = yield* validated(network, env, "hooks.example.com")
      network.routingAnswers = false
      network.revokes = false
      yield* remove(domain)
      yield* after(30 * minute)
      assert.strictEqual(yield* status(domain), "deleting")
      assert.deepStrictEqual(network.revoked, [])
      network.routingAnswers = true
      yield* after(6 * hour)
      assert.strictEqual(yield* failure(get(domain)), "NotFound")
    })
  )

  check("is removed even if it was being checked", (network, env) =>
    Effect.gen(function* () {
      network.authority = "never answers"
      const domain = yield* add(env, "hooks.example.com")
      network.prove(domain)
      const verification = yield* Effect.forkChild(verify(domain))
      yield* settle
      yield* remove(domain)
      yield* settle
      assert.strictEqual(yield* failure(get(domain)), "NotFound")
      yield* Fiber.interrupt(verification)
    })
  )
})

describe("a host name in a request", () => {
  check("is routed from validated until its removal, without a query if cached", (network, env) =>
    Effect.gen(function* () {
      const routes = yield* DomainRoutes
      assert.isNull(yield* routes.resolve("hooks.example.com"))
      const domain = yield* add(env, "hooks.example.com")
      assert.isNull(routes.getCached("hooks.example.com"))
      network.prove(domain)
      yield* verify(domain)
      const route = { domain: domain.domain, org_slug: "acme", env_name: "production" }
      for (const host of ["hooks.example.com", "HOOKS.example.com:8443", "hooks.example.com."]) {
        assert.deepStrictEqual(routes.getCached(host), route)
      }
      for (const host of ["example.com", "x.hooks.example.com", "", "127.0.0.1:80"])
        assert.isNull(routes.getCached(host))
      yield* remove(domain)
      assert.isNull(routes.getCached("hooks.example.com"))
    })
  )
})

describe("nodes of one database", () => {
  it.effect("share the checks, and route each other's domains", () => {
    const network = new SimulatedNetwork()
    return Effect.gen(function* () {
      const second = yield* Layer.build(Layer.fresh(domainsLayer(network.config)))
      const there = Context.get(second, DomainRoutes)
      const env = yield* newEnv("acme")
      const domain = yield* add(env, "hooks.example.com")
      const before = countLookUps(network, domain.validation_cname_name)
      yield* after(minute)
      assert.strictEqual(countLookUps(network, domain.validation_cname_name), before + 1)
      assert.isNull(yield* there.resolve("hooks.example.com"))
      network.prove(domain)
      yield* verify(domain)
      yield* settle
      assert.strictEqual(there.getCached("hooks.example.com")?.org_slug, "acme")
      yield* remove(domain)
      yield* settle
      assert.isNull(there.getCached("hooks.example.com"))
    }).pipe(Effect.scoped, Effect.provide(servicesOn(network)))
  })

  it.effect("release their claims at once when they shut down", () => {
    const network = new SimulatedNetwork()
    return Effect.gen(function* () {
      const scope = yield* Scope.make()
      const second = yield* Layer.buildWithScope(Layer.fresh(domainsLayer(network.config)), scope)
      const env = yield* newEnv("acme")
      const domain = yield* add(env, "hooks.example.com")
      network.prove(domain)
      network.authority = "never answers"
      const verifying = as(env.env_id)(Context.get(second, Domains).verify(domain.domain_id))
      const verification = yield* Effect.forkChild(verifying)
      yield* settle
      assert.strictEqual(network.issued.length, 1)
      network.authority = "external"
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.interrupt(verification)
      yield* after(minute)
      assert.strictEqual(yield* status(domain), "provisioning")
    }).pipe(Effect.provide(servicesOn(network)))
  })
})
