import { assert, describe, it } from "@effect/vitest"
import { type Caller, Domains, type Env, NotFound, Tenants } from "@weft/core"
import { Effect, type Layer } from "effect"
import { as, failure } from "../../Services.ts"
import { add, get, remove, SimulatedNetwork, servicesOn, settle, verify } from "./SimulatedNetwork.ts"

type World = Layer.Success<ReturnType<typeof servicesOn>>

const check = <E>(claim: string, body: (network: SimulatedNetwork, env: Env) => Effect.Effect<void, E, World>) =>
  it.effect(claim, () => {
    const network = new SimulatedNetwork()
    return Effect.gen(function* () {
      yield* body(network, yield* newEnv("acme"))
    }).pipe(Effect.provide(servicesOn(network)))
  })

const newEnv = Effect.fnUntraced(function* (slug: string, plan = "Self-Host") {
  const tenants = yield* Tenants
  const org = yield* tenants.createOrg({ slug, plan })
  return yield* tenants.createEnv(org.slug, { name: "production" })
})

describe("registering a domain", () => {
  check("returns the record that proves control of it, a new one each time", (_, env) =>
    Effect.gen(function* () {
      const first = yield* add(env, "Hooks.Example.com")
      assert.deepStrictEqual(
        [first.env_id, first.domain, first.status, first.validation_cname_name, first.routing_domain],
        [env.env_id, "hooks.example.com", "pending_validation", "_acme-challenge.hooks.example.com", null]
      )
      assert.match(first.validation_cname_value, /^[0-9a-f]{32}\.validation\.weft\.example$/)
      yield* remove(first)
      yield* settle
      const second = yield* add(env, "hooks.example.com")
      assert.notStrictEqual(second.validation_cname_value, first.validation_cname_value)
      assert.notStrictEqual(second.domain_id, first.domain_id)
    })
  )

  check("rejects invalid host names and names of the service", (_, env) =>
    Effect.gen(function* () {
      const own = ["weft.example", "a.weft.example", "x.routing.weft.example", "WEFT.example."]
      for (const name of ["", "localhost", "*.example.com", "127.0.0.1", "a.b:80", ...own]) {
        assert.strictEqual(yield* failure(add(env, name)), "BadRequest", name)
      }
      for (const name of ["notweft.example", "weft.example.com"]) yield* add(env, name)
    })
  )

  check("is possible once in all environments, until the domain is removed", (network, env) =>
    Effect.gen(function* () {
      const other = yield* newEnv("other")
      const domain = yield* add(env, "hooks.example.com")
      for (const again of [env, other])
        assert.strictEqual(yield* failure(add(again, "HOOKS.example.com")), "DomainExists")
      network.prove(domain)
      yield* verify(domain)
      network.routingAnswers = false
      yield* remove(domain)
      yield* settle
      assert.strictEqual(yield* failure(add(other, "hooks.example.com")), "DomainExists")
    })
  )

  check("needs a plan with domains, and respects the limit of the organization", (_, env) =>
    Effect.gen(function* () {
      const starter = yield* newEnv("starter", "Starter")
      assert.strictEqual(yield* failure(add(starter, "hooks.example.com")), "PlanRequired")
      const tenants = yield* Tenants
      const pro = yield* newEnv("pro", "Pro")
      const staging = yield* tenants.createEnv("pro", { name: "staging" })
      const first = yield* add(pro, "a1.example.com")
      for (const n of [2, 3, 4]) yield* add(pro, `a${n}.example.com`)
      yield* add(staging, "a5.example.com")
      for (const own of [pro, staging]) {
        assert.strictEqual(yield* failure(add(own, "a6.example.com")), "DomainLimitReached")
      }
      yield* remove(first)
      yield* add(staging, "a6.example.com")
      for (let n = 0; n < 12; n++) yield* add(env, `b${n}.example.com`)
    })
  )

  check("checks permission, then input, then plan, then limit, then existence", (_, env) =>
    Effect.gen(function* () {
      yield* add(env, "taken.example.com")
      const free = yield* newEnv("free", "Free")
      const reader = as(free.env_id, { "domain:*": ["read"] })
      const addAs = (domain: string) => failure(Domains.use((domains) => domains.add({ domain })))
      assert.strictEqual(yield* reader(addAs("no host name")), "Forbidden")
      assert.strictEqual(yield* as(free.env_id)(addAs("no host name")), "BadRequest")
      assert.strictEqual(yield* as(free.env_id)(addAs("taken.example.com")), "PlanRequired")
      const pro = yield* newEnv("pro", "Pro")
      for (const n of [1, 2, 3, 4, 5]) yield* add(pro, `p${n}.example.com`)
      assert.strictEqual(yield* as(pro.env_id)(addAs("taken.example.com")), "DomainLimitReached")
    })
  )
})

describe("the domains of an environment", () => {
  check("are separate from those of others", (_, env) =>
    Effect.gen(function* () {
      const other = yield* newEnv("other")
      const first = yield* add(env, "a.example.com")
      const second = yield* add(env, "b.example.com")
      const theirs = yield* add(other, "c.example.com")
      const { list, get, verify, remove } = yield* Domains
      const page = yield* as(env.env_id)(list({ limit: 20, offset: 0 }))
      assert.deepStrictEqual(page, { items: [second, first], total: 2 })
      for (const id of [theirs.domain_id, "no-id", env.env_id]) {
        for (const attempt of [get(id), verify(id), remove(id)]) {
          assert.deepStrictEqual(yield* as(env.env_id)(Effect.flip(attempt)), new NotFound({ resource: "domain" }))
        }
      }
      assert.deepStrictEqual(yield* as(env.env_id)(get(first.domain_id.toUpperCase())), first)
    })
  )

  check("need a permission for each kind of access", (_, env) =>
    Effect.gen(function* () {
      const { domain_id } = yield* add(env, "a.example.com")
      const domains = yield* Domains
      type Attempt = Effect.Effect<unknown, { readonly _tag: string }, Caller>
      const attempts: Readonly<Record<string, ReadonlyArray<Attempt>>> = {
        read: [domains.list({ limit: 1, offset: 0 }), domains.get(domain_id)],
        create: [domains.add({ domain: "b.example.com" })],
        update: [domains.verify(domain_id)],
        delete: [domains.remove(domain_id)]
      }
      const actions = Object.keys(attempts)
      for (const action of actions) {
        const others = as(env.env_id, {
          "domain:*": actions.filter((one) => one !== action),
          "project:*": ["*"]
        })
        for (const attempt of attempts[action] ?? []) {
          assert.strictEqual(yield* others(failure(attempt)), "Forbidden")
          yield* as(env.env_id, { "domain:*": [action] })(Effect.orDie(attempt))
        }
      }
    })
  )
})

describe("deleting a domain", () => {
  check("returns the status deleting until it is removed, and succeeds once", (network, env) =>
    Effect.gen(function* () {
      const domain = yield* add(env, "hooks.example.com")
      network.prove(domain)
      yield* verify(domain)
      network.routingAnswers = false
      yield* remove(domain)
      yield* settle
      assert.strictEqual((yield* get(domain)).status, "deleting")
      assert.strictEqual(yield* failure(remove(domain)), "NotFound")
      const { message, domain: still } = yield* verify(domain)
      assert.deepStrictEqual([still.status, message], ["deleting", "The domain is being deleted."])
    })
  )
})
