/** Hosts that are asked for tenants that nobody has made, in virtual time. */
import { assert, describe } from "@effect/vitest"
import { Tenants, Webhooks } from "@weft/core"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { failure } from "../Services.ts"
import { settle } from "../world.ts"
import { born, check, type Provisioning } from "./Place.ts"

type Admit = NonNullable<Provisioning["admit"]>

/** A host that notes what it was asked for, before it answers. */
const asked = (answer: Admit) => {
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

/** What is missing for the webhook: the environment, or only the endpoint. */
const missing = (org: string, env?: string) => Effect.map(Effect.flip(hook(org, env)), (error) => error.message)
const noEnv = "There is no such environment"
const noEndpoint = "There is no such webhook endpoint"

describe("a webhook of a tenant that nobody has made", () => {
  check(
    "finds it, when the host admits it, on its terms",
    Effect.gen(function* () {
      const host = asked(({ org }) => Effect.succeed(org === "acme" ? { name: "Acme", plan: "Pro" } : null))
      const { on, die } = yield* born(host)
      assert.strictEqual(yield* on(missing("acme")), noEndpoint)
      const org = yield* on(Tenants.use((tenants) => tenants.getOrg("acme")))
      assert.deepInclude(org, { slug: "acme", name: "Acme", plan: "Pro" })
      for (let n = 0; n < 5; n++) assert.strictEqual(yield* on(missing("acme")), noEndpoint)
      assert.strictEqual(yield* on(missing("acme", "staging")), noEndpoint)
      assert.strictEqual(yield* on(missing("other")), noEnv)
      assert.strictEqual(yield* failure(on(Tenants.use((tenants) => tenants.getOrg("other")))), "NotFound")
      assert.deepStrictEqual(host.names, ["acme/production", "acme/staging", "other/production"])
      yield* die
    })
  )

  check(
    "is not found, and asked for once in ten seconds, when the host refuses",
    Effect.gen(function* () {
      let isCustomer = false
      const host = asked(() => Effect.succeed(isCustomer ? {} : null))
      const { on, die } = yield* born(host)
      for (let second = 0; second < 10; second++) {
        for (let n = 0; n < 3; n++) assert.strictEqual(yield* on(missing("acme")), noEnv)
        yield* TestClock.adjust("1 second")
      }
      assert.strictEqual(host.names.length, 1)
      isCustomer = true
      assert.strictEqual(yield* on(missing("acme")), noEndpoint)
      assert.strictEqual(host.names.length, 2)
      yield* die
    })
  )

  check(
    "is there at once when the host makes it meanwhile",
    Effect.gen(function* () {
      const { on, die } = yield* born({ admit: () => Effect.succeed(null) })
      assert.strictEqual(yield* on(missing("acme")), noEnv)
      yield* on(Tenants.use((tenants) => tenants.ensure({ org: "acme", env: "production" })))
      assert.strictEqual(yield* on(missing("acme")), noEndpoint)
      yield* die
    })
  )

  check(
    "is asked for once by all who want it at once, even when the first goes away",
    Effect.gen(function* () {
      const host = asked(() => Effect.delay(Effect.succeed({}), "2 seconds"))
      const { on, die } = yield* born(host)
      const callers = yield* Effect.forEach(Array.from({ length: 20 }), () => Effect.forkChild(on(missing("acme"))))
      yield* settle
      const [first, ...others] = callers
      if (first !== undefined) yield* Fiber.interrupt(first)
      yield* TestClock.adjust("2 seconds")
      for (const caller of others) assert.strictEqual(yield* Fiber.join(caller), noEndpoint)
      assert.strictEqual(others.length, 19)
      assert.deepStrictEqual(host.names, ["acme/production"])
      yield* die
    })
  )

  check(
    "is asked for never when it cannot be",
    Effect.gen(function* () {
      const host = asked(admitAll)
      const { on, die } = yield* born(host)
      const impossible = ["ACME", "", "a b", "-a", "x".repeat(64), "__proto__", "01890000-0000-7000-8000-000000000001"]
      for (const org of impossible) assert.strictEqual(yield* on(missing(org)), noEnv)
      assert.strictEqual(yield* on(missing("acme", "Production")), noEnv)
      assert.deepStrictEqual(host.names, [])
      yield* die
    })
  )

  check(
    "is asked for no oftener than the host can bear",
    Effect.gen(function* () {
      const host = asked(() => Effect.succeed(null))
      const { on, die } = yield* born({ ...host, asksPerSecond: 5 })
      const round = (name: string) =>
        Effect.forEach(Array.from({ length: 8 }), (_, n) => failure(on(hook(`${name}-${n}`))))
      const expected = [...Array.from({ length: 5 }, () => "NotFound"), "RateLimited", "RateLimited", "RateLimited"]
      assert.deepStrictEqual(yield* round("first"), expected)
      // Those that were refused are refused without asking.
      assert.strictEqual(yield* failure(on(hook("first-0"))), "NotFound")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* round("second"), expected)
      assert.strictEqual(host.names.length, 10)
      yield* die
    })
  )

  check(
    "is answered as by a store that is away when the host fails, throws or does not answer; and asked for again",
    Effect.gen(function* () {
      const answers: Array<Admit> = [
        () => Effect.fail(new Error("secret")),
        () => {
          throw new Error("a mistake")
        },
        () => Effect.never
      ]
      const host = asked((wanted) => (answers.shift() ?? admitAll)(wanted))
      const { on, die } = yield* born(host)
      for (let n = 0; n < 2; n++) assert.strictEqual(yield* failure(on(hook("acme"))), "StoreUnavailable")
      const waiting = yield* Effect.forkChild(failure(on(hook("acme"))))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* Fiber.join(waiting), "StoreUnavailable")
      assert.strictEqual(yield* on(missing("acme")), noEndpoint)
      assert.strictEqual(host.names.length, 4)
      yield* die
    })
  )

  check(
    "is a mistake of the host's when its terms cannot be",
    Effect.gen(function* () {
      const { on, die } = yield* born({ admit: () => Effect.succeed({ plan: "Gold" }) })
      const exit = yield* Effect.exit(on(hook("acme")))
      assert.isTrue(Exit.hasDies(exit))
      yield* die
    })
  )
})
