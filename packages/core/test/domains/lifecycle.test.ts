import { assert, describe, it } from "@effect/vitest"
import {
  type Domain,
  DomainCertificates,
  DomainRoutes,
  DomainStore,
  Domains,
  domainsLayer,
  type Env,
  Resealing
} from "@weft/core"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { as, failure, newEnv } from "../Services.ts"
import { add, after, day, get, hour, minute, Place, remove, scene, settle, until, validated, verify } from "./Place.ts"

type World = Layer.Success<ReturnType<typeof scene>>

const check = <E>(claim: string, body: (place: Place, env: Env) => Effect.Effect<void, E, World>) =>
  it.effect(claim, () => {
    const place = new Place()
    return Effect.gen(function* () {
      yield* body(place, yield* newEnv("acme"))
    }).pipe(Effect.provide(scene(place)))
  })

const status = (domain: Domain) => Effect.map(get(domain), (current) => current.status)

const routeOf = (name: string) => DomainRoutes.use((routes) => routes.resolve(name))

const looks = (place: Place, name: string): number => place.lookUps.filter((asked) => asked === name).length

describe("a domain on its way", () => {
  check("is validated by its record, then provisioned, and active when it leads to its target", (place, env) =>
    Effect.gen(function* () {
      const domain = yield* add(env, "hooks.example.com")
      const asked = yield* verify(domain)
      assert.strictEqual(asked.domain.status, "pending_validation")
      assert.include(asked.message, domain.validation_cname_name)
      assert.include(asked.message, domain.validation_cname_value)
      assert.isNull((yield* get(domain)).routing_domain)

      place.prove(domain)
      const proven = yield* verify(domain)
      assert.strictEqual(proven.domain.status, "validated")
      assert.match(proven.domain.routing_domain ?? "", /^[0-9a-f]{32}\.routing\.weft\.example$/)
      assert.include(proven.message, proven.domain.routing_domain ?? "?")
      yield* settle
      assert.strictEqual(yield* status(domain), "provisioning")
      assert.deepStrictEqual(place.prepared, [proven.domain.routing_domain ?? "?"])

      place.lead(proven.domain)
      yield* after(2 * minute)
      assert.strictEqual(yield* status(domain), "active")
      assert.strictEqual((yield* verify(domain)).message, "The domain is active.")
    })
  )

  check("is found by the background, too, and takes names as the DNS writes them", (place, env) =>
    Effect.gen(function* () {
      const domain = yield* add(env, "hooks.example.com")
      place.cnames.set(domain.validation_cname_name, [`${domain.validation_cname_value.toUpperCase()}.`])
      yield* after(59_000)
      assert.strictEqual(yield* status(domain), "pending_validation")
      yield* after(1_000)
      assert.strictEqual(yield* status(domain), "provisioning")
    })
  )

  check("is looked at ever more rarely, from a minute to an hour, and never given up", (place, env) =>
    Effect.gen(function* () {
      const domain = yield* add(env, "hooks.example.com")
      const times: Array<number> = []
      for (let passed = 1; passed <= 400; passed++) {
        const before = looks(place, domain.validation_cname_name)
        yield* after(minute)
        if (looks(place, domain.validation_cname_name) > before) times.push(passed)
      }
      assert.deepStrictEqual(times.slice(0, 7), [1, 2, 4, 8, 16, 32, 64])
      assert.deepStrictEqual(
        times.slice(7).map((time, index) => time - (times[index + 6] ?? 0)),
        times.slice(7).map(() => 60)
      )
      assert.isAbove(times.length, 10)
      // Whoever verifies is at work on it: the background follows closely again.
      yield* verify(domain)
      place.prove(domain)
      yield* after(minute)
      assert.strictEqual(yield* status(domain), "provisioning")
    })
  )

  check("says what stands in its way", (place, env) =>
    Effect.gen(function* () {
      const domain = yield* add(env, "hooks.example.com")
      const message = Effect.map(verify(domain), ({ message }) => message)
      assert.include(yield* message, "Not validated yet: add the CNAME record")
      place.cnames.set(domain.validation_cname_name, ["elsewhere.example"])
      assert.include(yield* message, "points to something else")
      place.dnsAnswers = false
      assert.include(yield* message, "the DNS did not answer")
      place.dnsAnswers = true
      place.prove(domain)
      place.authority = "refuses"
      const refused = yield* message
      assert.include(refused, "the authority refused")
      assert.notInclude(refused, "secret of ours")
      for (const part of [domain.validation_cname_name, domain.validation_cname_value]) assert.include(refused, part)
      assert.strictEqual(yield* status(domain), "pending_validation")
    })
  )

  check("reaches its target also by the target's addresses, where no CNAME may stand", (place, env) =>
    Effect.gen(function* () {
      const domain = yield* validated(place, env, "example.com")
      place.addresses.set("example.com", ["203.0.113.7", "203.0.113.9"])
      place.addresses.set(domain.routing_domain ?? "", ["203.0.113.7", "203.0.113.8"])
      yield* after(5 * minute)
      assert.strictEqual(yield* status(domain), "provisioning")
      place.addresses.set("example.com", ["203.0.113.8"])
      yield* after(10 * minute)
      assert.strictEqual(yield* status(domain), "active")
    })
  )

  check("waits where routing or the DNS does not answer", (place, env) =>
    Effect.gen(function* () {
      place.routingAnswers = false
      const domain = yield* validated(place, env, "hooks.example.com")
      assert.strictEqual(domain.status, "validated")
      place.routingAnswers = true
      place.dnsAnswers = false
      yield* after(5 * minute)
      assert.strictEqual(yield* status(domain), "provisioning")
      place.dnsAnswers = true
      place.lead(domain)
      yield* after(15 * minute)
      assert.strictEqual(yield* status(domain), "active")
    })
  )
})

describe("the certificate of a domain", () => {
  check("is had before the domain is validated, and kept sealed", (place, env) =>
    Effect.gen(function* () {
      place.authority = "issues"
      const domain = yield* validated(place, env, "hooks.example.com")
      assert.deepStrictEqual(place.issued, [`hooks.example.com ${domain.validation_cname_value}`])
      const open = yield* DomainCertificates.use((certificates) => certificates.of("Hooks.Example.com"))
      assert.deepStrictEqual([open.chain, Redacted.value(open.privateKey)], ["chain 1 of hooks.example.com", "key 1"])
      const certificate = yield* DomainStore.use((store) => store.certificate(domain.domain_id))
      assert.notInclude(JSON.stringify(certificate), "key 1")
      assert.strictEqual((yield* Resealing.use((resealing) => resealing.reseal)).unreadable, 0)
      const none = DomainCertificates.use((certificates) => certificates.of("other.example.com"))
      assert.strictEqual(yield* failure(none), "NotFound")
    })
  )

  check("is renewed in time, and tried again until that works", (place, env) =>
    Effect.gen(function* () {
      place.authority = "issues"
      place.lifeMs = 6 * hour
      const domain = yield* validated(place, env, "hooks.example.com")
      place.lead(domain)
      yield* after(3.9 * hour)
      assert.strictEqual(yield* status(domain), "active")
      assert.strictEqual(place.issued.length, 1)
      const chain = Effect.map(
        DomainCertificates.use((certificates) => certificates.of("hooks.example.com")),
        (open) => open.chain
      )
      place.authority = "refuses"
      yield* after(0.5 * hour)
      assert.isAbove(place.issued.length, 3)
      assert.isBelow(place.issued.length, 8)
      assert.strictEqual(yield* status(domain), "active")
      assert.strictEqual(yield* chain, "chain 1 of hooks.example.com")
      place.authority = "issues"
      yield* after(hour)
      const renewed = place.issued.length
      yield* until(Effect.map(chain, (current) => current === `chain ${renewed} of hooks.example.com`))
      yield* after(2 * hour)
      assert.strictEqual(place.issued.length, renewed)
    })
  )

  check("is had within a day by domains that did without", (place, env) =>
    Effect.gen(function* () {
      const domain = yield* validated(place, env, "hooks.example.com")
      place.lead(domain)
      yield* after(5 * minute)
      const before = place.issued.length
      place.authority = "issues"
      yield* after(day, 10 * minute)
      assert.strictEqual(place.issued.length, before + 1)
      const certificate = DomainCertificates.use((certificates) => certificates.of("hooks.example.com"))
      yield* until(Effect.isSuccess(certificate))
    })
  )

  check("is not ordered as often as somebody asks", (place, env) =>
    Effect.gen(function* () {
      place.authority = "refuses"
      const domain = yield* add(env, "hooks.example.com")
      place.prove(domain)
      for (let n = 0; n < 20; n++) yield* verify(domain)
      assert.strictEqual(place.issued.length, 1)
      yield* TestClock.adjust("61 seconds")
      for (let n = 0; n < 20; n++) yield* verify(domain)
      assert.isAtMost(place.issued.length, 2)
    })
  )

  /** The fifty-first, which is not ordered. */
  const refused = Effect.fnUntraced(function* (place: Place, env: Env) {
    assert.strictEqual(place.issued.length, 50)
    const domain = yield* add(env, "late.example.com")
    place.prove(domain)
    assert.include((yield* verify(domain)).message, "has ordered 50 certificates within an hour")
    assert.strictEqual(place.issued.length, 50)
    return domain
  })

  check("is ordered so many times in an hour for an organization, and then later", (place, env) =>
    Effect.gen(function* () {
      place.authority = "issues"
      for (let n = 0; n < 50; n++) {
        const domain = yield* validated(place, env, `hooks${n}.example.com`)
        yield* remove(domain)
        yield* settle
      }
      const domain = yield* refused(place, env)
      yield* after(2 * hour)
      assert.notStrictEqual(yield* status(domain), "pending_validation")
      assert.strictEqual(place.issued.length, 51)
    })
  )

  check("counts against the organization while it is under way, also when its name is gone", (place, env) =>
    Effect.gen(function* () {
      place.authority = "never answers"
      for (let n = 0; n < 50; n++) {
        const domain = yield* add(env, `hooks${n}.example.com`)
        place.prove(domain)
        yield* Effect.forkScoped(verify(domain))
        yield* settle
        yield* remove(domain)
        yield* settle
      }
      yield* refused(place, env)
    }).pipe(Effect.scoped)
  )

  check("may take longer than whoever asked for it waits", (place, env) =>
    Effect.gen(function* () {
      place.authority = "never answers"
      const domain = yield* add(env, "hooks.example.com")
      place.prove(domain)
      const asking = yield* Effect.forkChild(verify(domain))
      yield* after(16_000)
      const { domain: current, message } = yield* Fiber.join(asking)
      assert.strictEqual(current.status, "pending_validation")
      assert.include(message, "under way")
      assert.include(message, domain.validation_cname_value)
      // Nobody else begins another check of it meanwhile.
      assert.include((yield* verify(domain)).message, "under way")
      assert.strictEqual(place.issued.length, 1)
    })
  )
})

describe("a domain that is deleted", () => {
  check("is cleaned up and gone", (place, env) =>
    Effect.gen(function* () {
      place.authority = "issues"
      const domain = yield* validated(place, env, "hooks.example.com")
      yield* remove(domain)
      assert.isNull(yield* routeOf("hooks.example.com"))
      yield* settle
      assert.strictEqual(yield* failure(get(domain)), "NotFound")
      assert.deepStrictEqual(place.removed, [domain.routing_domain ?? "?"])
      assert.deepStrictEqual(place.revoked, ["chain 1 of hooks.example.com"])
      const certificate = DomainStore.use((store) => store.certificate(domain.domain_id))
      assert.strictEqual(yield* failure(certificate), "NotFound")
      yield* add(env, "hooks.example.com")
    })
  )

  check("waits for what cannot be cleaned up, but not for ever for its authority", (place, env) =>
    Effect.gen(function* () {
      place.authority = "issues"
      const domain = yield* validated(place, env, "hooks.example.com")
      place.routingAnswers = false
      place.revokes = false
      yield* remove(domain)
      yield* after(30 * minute)
      assert.strictEqual(yield* status(domain), "deleting")
      assert.deepStrictEqual(place.revoked, [])
      place.routingAnswers = true
      yield* after(6 * hour)
      assert.strictEqual(yield* failure(get(domain)), "NotFound")
    })
  )

  check("in the middle of a check is deleted all the same", (place, env) =>
    Effect.gen(function* () {
      place.authority = "never answers"
      const domain = yield* add(env, "hooks.example.com")
      place.prove(domain)
      const asking = yield* Effect.forkChild(verify(domain))
      yield* settle
      yield* remove(domain)
      yield* settle
      assert.strictEqual(yield* failure(get(domain)), "NotFound")
      yield* Fiber.interrupt(asking)
    })
  )
})

describe("a host name in a request", () => {
  check("is routed from validated to the end, by no query when warm", (place, env) =>
    Effect.gen(function* () {
      const routes = yield* DomainRoutes
      assert.isNull(yield* routes.resolve("hooks.example.com"))
      const domain = yield* add(env, "hooks.example.com")
      assert.isNull(routes.peek("hooks.example.com"))
      place.prove(domain)
      yield* verify(domain)
      const route = { domain: domain.domain, org_slug: "acme", env_name: "production" }
      for (const host of ["hooks.example.com", "HOOKS.example.com:8443", "hooks.example.com."]) {
        assert.deepStrictEqual(routes.peek(host), route)
      }
      for (const host of ["example.com", "x.hooks.example.com", "", "127.0.0.1:80"]) assert.isNull(routes.peek(host))
      yield* remove(domain)
      assert.isNull(routes.peek("hooks.example.com"))
    })
  )
})

describe("nodes of one database", () => {
  it.effect("share out the checks, and hear of each other's domains", () => {
    const place = new Place()
    return Effect.gen(function* () {
      const second = yield* Layer.build(Layer.fresh(domainsLayer(place.config)))
      const there = Context.get(second, DomainRoutes)
      const env = yield* newEnv("acme")
      const domain = yield* add(env, "hooks.example.com")
      const before = looks(place, domain.validation_cname_name)
      yield* after(minute)
      assert.strictEqual(looks(place, domain.validation_cname_name), before + 1)
      assert.isNull(yield* there.resolve("hooks.example.com"))
      place.prove(domain)
      yield* verify(domain)
      yield* settle
      assert.strictEqual(there.peek("hooks.example.com")?.org_slug, "acme")
      yield* remove(domain)
      yield* settle
      assert.isNull(there.peek("hooks.example.com"))
    }).pipe(Effect.scoped, Effect.provide(scene(place)))
  })

  it.effect("give back at once what they check when they end", () => {
    const place = new Place()
    return Effect.gen(function* () {
      const scope = yield* Scope.make()
      const second = yield* Layer.buildWithScope(Layer.fresh(domainsLayer(place.config)), scope)
      const env = yield* newEnv("acme")
      const domain = yield* add(env, "hooks.example.com")
      place.prove(domain)
      place.authority = "never answers"
      const verifying = as(env.env_id)(Context.get(second, Domains).verify(domain.domain_id))
      const asking = yield* Effect.forkChild(verifying)
      yield* settle
      assert.strictEqual(place.issued.length, 1)
      place.authority = "external"
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.interrupt(asking)
      yield* after(minute)
      assert.strictEqual(yield* status(domain), "provisioning")
    }).pipe(Effect.provide(scene(place)))
  })
})
