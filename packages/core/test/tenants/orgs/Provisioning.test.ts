/** Hosts that admit unknown tenants, in virtual time. */
import { assert, describe } from "@effect/vitest"
import { Tenants, Webhooks } from "@weft/core"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { failure } from "../../Services.ts"
import { settle } from "../../world.ts"
import { check, type Provisioning, startNode } from "./startNode.ts"

type Admit = NonNullable<Provisioning["admit"]>

/** A host that records the requests for admission before it decides. */
const recordAdmissions = (answer: Admit) => {
  const names: Array<string> = []
  const admit: Admit = (wanted) =>
    Effect.suspend(() => {
      names.push(`${wanted.org}/${wanted.env}`)
      return answer(wanted)
    })
  return { names, admit }
}

const admitAll = () => Effect.succeed({})

const hook = (org: string, env = "production") =>
  Webhooks.use((webhooks) =>
    webhooks.handle({
      ...{ org, env, service: "shop", path: "/", method: "GET", url: `/webhook/${org}/${env}/shop/` },
      ...{ query: {}, headers: {}, body: null, remoteIp: "", token: null }
    })
  )

/** The missing resource of the webhook: the environment, or only the endpoint. */
const missing = (org: string, env?: string) => Effect.map(Effect.flip(hook(org, env)), (error) => error.message)
const noEnv = "There is no such environment"
const noEndpoint = "There is no such webhook endpoint"

describe("a webhook of an unknown tenant", () => {
  check(
    "creates the tenant with the host's terms if the host admits it",
    Effect.gen(function* () {
      const host = recordAdmissions(({ org }) => Effect.succeed(org === "acme" ? { name: "Acme", plan: "Pro" } : null))
      const { on, stop } = yield* startNode(host)
      assert.strictEqual(yield* on(missing("acme")), noEndpoint)
      const org = yield* on(Tenants.use((tenants) => tenants.getOrg("acme")))
      assert.deepInclude(org, { slug: "acme", name: "Acme", plan: "Pro" })
      for (let n = 0; n < 5; n++) assert.strictEqual(yield* on(missing("acme")), noEndpoint)
      assert.strictEqual(yield* on(missing("acme", "staging")), noEndpoint)
      assert.strictEqual(yield* on(missing("other")), noEnv)
      assert.strictEqual(yield* failure(on(Tenants.use((tenants) => tenants.getOrg("other")))), "NotFound")
      assert.deepStrictEqual(host.names, ["acme/production", "acme/staging", "other/production"])
      yield* stop
    })
  )

  check(
    "is NotFound if the host refuses, and the host decides once in ten seconds",
    Effect.gen(function* () {
      let isCustomer = false
      const host = recordAdmissions(() => Effect.succeed(isCustomer ? {} : null))
      const { on, stop } = yield* startNode(host)
      for (let second = 0; second < 10; second++) {
        for (let n = 0; n < 3; n++) assert.strictEqual(yield* on(missing("acme")), noEnv)
        yield* TestClock.adjust("1 second")
      }
      assert.strictEqual(host.names.length, 1)
      isCustomer = true
      assert.strictEqual(yield* on(missing("acme")), noEndpoint)
      assert.strictEqual(host.names.length, 2)
      yield* stop
    })
  )

  check(
    "finds a tenant at once that the host creates after a refusal",
    Effect.gen(function* () {
      const { on, stop } = yield* startNode({ admit: () => Effect.succeed(null) })
      assert.strictEqual(yield* on(missing("acme")), noEnv)
      yield* on(Tenants.use((tenants) => tenants.ensure({ org: "acme", env: "production" })))
      assert.strictEqual(yield* on(missing("acme")), noEndpoint)
      yield* stop
    })
  )

  check(
    "causes one decision for concurrent requests, even if the first is interrupted",
    Effect.gen(function* () {
      const host = recordAdmissions(() => Effect.delay(Effect.succeed({}), "2 seconds"))
      const { on, stop } = yield* startNode(host)
      const callers = yield* Effect.forEach(Array.from({ length: 20 }), () => Effect.forkChild(on(missing("acme"))))
      yield* settle
      const [first, ...others] = callers
      if (first !== undefined) yield* Fiber.interrupt(first)
      yield* TestClock.adjust("2 seconds")
      for (const caller of others) assert.strictEqual(yield* Fiber.join(caller), noEndpoint)
      assert.strictEqual(others.length, 19)
      assert.deepStrictEqual(host.names, ["acme/production"])
      yield* stop
    })
  )

  check(
    "causes no decision for invalid names",
    Effect.gen(function* () {
      const host = recordAdmissions(admitAll)
      const { on, stop } = yield* startNode(host)
      const impossible = ["ACME", "", "a b", "-a", "x".repeat(64), "__proto__", "01890000-0000-7000-8000-000000000001"]
      for (const org of impossible) assert.strictEqual(yield* on(missing(org)), noEnv)
      assert.strictEqual(yield* on(missing("acme", "Production")), noEnv)
      assert.deepStrictEqual(host.names, [])
      yield* stop
    })
  )

  check(
    "is rate-limited to the configured decisions per second",
    Effect.gen(function* () {
      const host = recordAdmissions(() => Effect.succeed(null))
      const { on, stop } = yield* startNode({ ...host, asksPerSecond: 5 })
      const round = (name: string) =>
        Effect.forEach(Array.from({ length: 8 }), (_, n) => failure(on(hook(`${name}-${n}`))))
      const expected = [...Array.from({ length: 5 }, () => "NotFound"), "RateLimited", "RateLimited", "RateLimited"]
      assert.deepStrictEqual(yield* round("first"), expected)
      // Cached refusals need no decision.
      assert.strictEqual(yield* failure(on(hook("first-0"))), "NotFound")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* round("second"), expected)
      assert.strictEqual(host.names.length, 10)
      yield* stop
    })
  )

  check(
    "fails with StoreUnavailable if the host fails, throws or times out, and is retried",
    Effect.gen(function* () {
      const answers: Array<Admit> = [
        () => Effect.fail(new Error("secret")),
        () => {
          throw new Error("a mistake")
        },
        () => Effect.never
      ]
      const host = recordAdmissions((wanted) => (answers.shift() ?? admitAll)(wanted))
      const { on, stop } = yield* startNode(host)
      for (let n = 0; n < 2; n++) assert.strictEqual(yield* failure(on(hook("acme"))), "StoreUnavailable")
      const waiting = yield* Effect.forkChild(failure(on(hook("acme"))))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* Fiber.join(waiting), "StoreUnavailable")
      assert.strictEqual(yield* on(missing("acme")), noEndpoint)
      assert.strictEqual(host.names.length, 4)
      yield* stop
    })
  )

  check(
    "dies if the host's terms are invalid",
    Effect.gen(function* () {
      const { on, stop } = yield* startNode({ admit: () => Effect.succeed({ plan: "Gold" }) })
      const exit = yield* Effect.exit(on(hook("acme")))
      assert.isTrue(Exit.hasDies(exit))
      yield* stop
    })
  )
})
