import { assert, describe, it } from "@effect/vitest"
import { HostRefused, hostEffect, hostFunction, hostIdentity, type StandardSchema, type TenantCall } from "@weft/core"
import { Context, DateTime, Effect, Fiber, type Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { hostTableLayer } from "../../../../src/runtime/svc/host/HostTable.ts"
import { makeRun } from "../Runs.ts"
import { makeFixture, settle, world } from "./HostCallFixture.ts"

const check = <E>(claim: string, body: Effect.Effect<void, E, Layer.Success<typeof world>>) =>
  it.effect(claim, () => Effect.provide(body, world))

const ById = Schema.Struct({ id: Schema.String, count: Schema.optionalKey(Schema.FiniteFromString) })
const Customer = Schema.Struct({ name: Schema.String, since: Schema.DateTimeUtcFromMillis })
const Any = Schema.Unknown

/** A schema of another library: uppercase text. */
const loud: StandardSchema<string, string> = {
  "~standard": {
    version: 1,
    vendor: "loud",
    validate: async (value) =>
      typeof value === "string"
        ? { value: value.toUpperCase() }
        : { issues: [{ message: "must be text", path: ["to", { key: 0 }] }] }
  }
}

const failure = (name: string) => [
  "HostFailure",
  `The host function ${name} failed (run 01890000-0000-7000-8000-000000000001)`
]

describe("a host function", () => {
  check(
    "receives the decoded input and the caller, and the guest receives the encoded output",
    Effect.gen(function* () {
      const calls: Array<TenantCall> = []
      const ada = { name: "Ada", since: DateTime.makeUnsafe(7), password: "never" }
      const { invoke, env } = yield* makeFixture({
        "crm.lookup": hostFunction({ input: ById, output: Customer }, async (input, { signal, ...call }) => {
          calls.push(call)
          assert.deepStrictEqual(input, { id: "7", count: 3 })
          assert.isFalse(signal.aborted)
          return ada
        }),
        shout: hostFunction({ input: loud, output: loud }, (text) => `${text}, you`),
        nothing: hostFunction({}, (input) => [input])
      })
      const caller = hostIdentity(env.env_id)
      const run = makeRun(env.env_id)
      const answer = yield* invoke("crm.lookup", '{"id":"7","count":"3","more":1}', run, caller)
      assert.strictEqual(answer, '{"name":"Ada","since":7}')
      assert.strictEqual(yield* invoke("shout", '"hey"'), '"HEY, YOU"')
      assert.strictEqual(yield* invoke("nothing", '{"any":1}'), "")
      const [call] = calls
      assert.deepStrictEqual(
        [call?.name, call?.org.slug, call?.org.plan, call?.env.name, call?.caller],
        ["crm.lookup", "acme", "Self-Host", "production", caller]
      )
      assert.include(call?.run, { run_id: run.run_id, project_name: "shop", var: "order", attempt: 2 })
      assert.notProperty(call?.run, "node_id")
    })
  )

  check(
    "is not called with invalid input, and the guest's error names the field",
    Effect.gen(function* () {
      const never = () => assert.fail("it was called")
      const { invoke, logged } = yield* makeFixture({
        effect: hostFunction({ input: ById }, never),
        standard: hostFunction({ input: loud }, never),
        many: hostFunction({ input: Schema.Array(Schema.Int) }, never)
      })
      assert.deepStrictEqual(yield* invoke("effect", '{"id":7,"count":"x"}'), [
        "Invalid",
        "effect: id: Expected string; count: Expected a finite number"
      ])
      assert.deepStrictEqual(yield* invoke("effect", ""), ["Invalid", "effect: Expected object"])
      assert.deepStrictEqual(yield* invoke("standard", "7"), ["Invalid", "standard: to.0: must be text"])
      const many = yield* invoke("many", JSON.stringify(new Array(100).fill("x")))
      assert.match(String(many), /^Invalid,many: 0: Expected .*; 7: Expected .*; and 92 more$/)
      assert.deepStrictEqual(logged, [])
    })
  )

  check(
    "never receives input that is invalid JSON, too deep, or would change prototypes",
    Effect.gen(function* () {
      const { invoke } = yield* makeFixture({ echo: hostFunction({ input: Any, output: Any }, (input) => input) })
      const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`
      const cases: ReadonlyArray<readonly [text: string, expected: RegExp]> = [
        [nested(64), /^\[/],
        [nested(65), /deeper than 64/],
        [nested(500_000), /deeper than 64/],
        [`${'{"a":'.repeat(65)}1${"}".repeat(65)}`, /deeper than 64/],
        [JSON.stringify(`${"[{".repeat(400)}\\"`), /^"/],
        ['{"__proto__":{"isAdmin":true}}', /__proto__/],
        ['[1,{"a":{"\\u005f_proto__":{}}}]', /__proto__/],
        ['{"text":"__proto__","\\u00e9":1}', /"text":"__proto__"/],
        ["{", /not JSON/],
        ["undefined", /not JSON/],
        ["\u0000", /not JSON/]
      ]
      for (const [text, expected] of cases)
        assert.match(String(yield* invoke("echo", text)), expected, text.slice(0, 60))
    })
  )

  check(
    "can fail with an error for the guest",
    Effect.gen(function* () {
      const { invoke, logged } = yield* makeFixture({
        thrown: hostFunction({}, () => {
          throw new HostRefused({ name: "CustomerUnknown", message: "There is no customer 7" })
        }),
        rejected: hostFunction({}, async () =>
          Promise.reject(new HostRefused({ name: "No", message: "x".repeat(5000) }))
        ),
        effect: yield* hostEffect({}, () => new HostRefused({ name: "Later", message: "Not now" })),
        died: yield* hostEffect({}, () =>
          Effect.sync(() => {
            throw new HostRefused({ name: "Died", message: "even so" })
          })
        )
      })
      assert.deepStrictEqual(yield* invoke("thrown"), ["CustomerUnknown", "There is no customer 7"])
      assert.deepStrictEqual(yield* invoke("rejected"), ["No", "x".repeat(1024)])
      assert.deepStrictEqual(yield* invoke("effect"), ["Later", "Not now"])
      assert.deepStrictEqual(yield* invoke("died"), ["Died", "even so"])
      assert.deepStrictEqual(logged, [])
    })
  )

  check(
    "logs its errors for the host and hides them from the guest",
    Effect.gen(function* () {
      const wrong = () => {
        throw new Error("no connection to db.internal")
      }
      const broken: StandardSchema<string, string> = {
        "~standard": { version: 1, vendor: "broken", validate: wrong }
      }
      const cyclic: { self?: unknown } = {}
      cyclic.self = cyclic
      const { invoke, logged } = yield* makeFixture({
        thrown: hostFunction({}, wrong),
        rejected: hostFunction({}, () => Promise.reject({ not: "an error", host: "db.internal" })),
        effect: yield* hostEffect({}, () => Effect.fail("db.internal")),
        died: yield* hostEffect({}, () => Effect.die("db.internal")),
        interrupted: yield* hostEffect({}, () => Effect.interrupt),
        input: hostFunction({ input: broken }, () => null),
        output: hostFunction({ output: broken }, () => "secret"),
        bigint: hostFunction({ output: Any }, () => 1n),
        cyclic: hostFunction({ output: Any }, () => cyclic),
        large: hostFunction({ output: Any }, () => "é".repeat(600_000)),
        allow: hostFunction({ allow: wrong }, () => null)
      })
      const names = ["thrown", "rejected", "effect", "died", "interrupted", "input", "output"]
      for (const name of [...names, "bigint", "cyclic", "large", "allow"]) {
        assert.deepStrictEqual(yield* invoke(name, "1"), failure(name))
        const [line, ...more] = logged.splice(0)
        assert.include(line, `The host function ${name} `)
        assert.include(line, '"run_id":"01890000-0000-7000-8000-000000000001"')
        if (/thrown|effect|died|put|allow/.test(name)) assert.include(line, "db.internal", name)
        assert.deepStrictEqual(more, [])
      }
      const typed: ReadonlyArray<unknown> = [{ name: 7, since: "today" }]
      const { invoke: again, logged: lines } = yield* makeFixture(
        { wrong: hostFunction({ output: Schema.Array(Customer) }, () => JSON.parse(JSON.stringify(typed))) },
        "other"
      )
      assert.deepStrictEqual(yield* again("wrong"), failure("wrong"))
      assert.match(
        String(lines),
        /returned a value that does not match its output schema.*0\.name: Expected string; 0\.since/s
      )
    })
  )
})

describe("the option allow", () => {
  check(
    "hides the function from callers that are not allowed",
    Effect.gen(function* () {
      const invoked: Array<string> = []
      const yes = () => true
      const { invoke, env } = yield* makeFixture({
        paid: hostFunction({ allow: ({ org }) => org.plan === "Pro" }, () => assert.fail("it was called")),
        here: hostFunction({ output: Any, allow: ({ env }) => env.name === "production" }, () => "here"),
        known: hostFunction({ output: Any, allow: ({ caller }) => caller?.type === "host" }, () => "known"),
        // Possible values of untyped code.
        later: hostFunction({ allow: JSON.parse('{"not":"a function"}') }, () => invoked.push("later")),
        truthy: hostFunction({ allow: () => JSON.parse("1") }, () => invoked.push("truthy")),
        offered: hostFunction({ output: Any, allow: yes }, () => "offered")
      })
      for (const name of ["paid", "known", "truthy", "absent", "", "__proto__", "constructor", "offered.more", "a b"]) {
        assert.deepStrictEqual(yield* invoke(name), ["NotFound", `There is no host function ${name}`])
      }
      assert.deepStrictEqual(yield* invoke("x".repeat(5000)), [
        "NotFound",
        `There is no host function ${"x".repeat(128)}`
      ])
      assert.strictEqual(yield* invoke("here"), '"here"')
      assert.strictEqual(yield* invoke("offered"), '"offered"')
      assert.strictEqual(yield* invoke("known", "", makeRun(env.env_id), hostIdentity(env.env_id)), '"known"')
      assert.deepStrictEqual(yield* invoke("later"), failure("later"))
      assert.deepStrictEqual(invoked, [])
    })
  )
})

describe("a host function that is an effect", () => {
  class Crm extends Context.Service<Crm, { readonly find: (id: string) => Effect.Effect<string> }>()("test/Crm") {}

  check(
    "uses the services from its creation, and is interrupted",
    Effect.gen(function* () {
      let interrupted = 0
      const lookup = hostEffect({ input: ById, output: Schema.String, timeout: "1s" }, ({ id }, { org }) =>
        Effect.gen(function* () {
          const crm = yield* Crm
          if (id === "slow") return yield* Effect.never
          return `${yield* crm.find(id)} of ${org.slug}`
        }).pipe(Effect.onInterrupt(() => Effect.sync(() => interrupted++)))
      )
      const made = yield* Effect.provideService(lookup, Crm, Crm.of({ find: (id) => Effect.succeed(`found ${id}`) }))
      const { invoke } = yield* makeFixture({ lookup: made })
      assert.strictEqual(yield* invoke("lookup", '{"id":"7"}'), '"found 7 of acme"')
      const slow = yield* Effect.forkChild(invoke("lookup", '{"id":"slow"}'))
      yield* settle
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(slow), ["TimedOut", "The host function lookup took longer than 1000 ms"])
      yield* settle
      assert.strictEqual(interrupted, 1)
    })
  )
})

describe("the host table", () => {
  it.effect("rejects invalid names and options", () =>
    Effect.gen(function* () {
      const refusal = (name: string, terms: object) =>
        Effect.match(Effect.provide(Effect.void, hostTableLayer({ [name]: hostFunction(terms, () => null) })), {
          onFailure: (error): string | null => `${error._tag} ${error.message}`,
          onSuccess: () => null
        })
      const names = ["", ".", "a.", "a..b", "1a", "a-b", "a b", "ключ", "__proto__", "_a", "x".repeat(129)]
      const taken = [
        "then",
        "crm.then",
        "toJSON",
        "constructor",
        "toString",
        "a.name",
        "length",
        "call",
        "apply",
        "bind"
      ]
      for (const name of [...names, ...taken]) {
        const error = yield* refusal(name, {})
        assert.match(String(error), /^HostFunctionInvalid The host function ".*": .*(JavaScript|letters|at most)/, name)
      }
      const wrong: ReadonlyArray<object> = [
        { timeout: 0 },
        { timeout: "5 seconds" },
        { timeout: "2h" },
        { rate: { calls: 0, per: "1s" } },
        { rate: { calls: 1, per: "now" } },
        { concurrency: { run: 0 } },
        { concurrency: { env: 1.5 } }
      ]
      for (const terms of wrong) assert.isNotNull(yield* refusal("a", terms), JSON.stringify(terms))
      for (const name of ["a", "crm.lookup", "crm.customer.find_all", "A1.b2", "x".repeat(128)]) {
        assert.isNull(yield* refusal(name, { timeout: "1h", rate: { calls: 5, per: "1m" } }), name)
      }
    })
  )
})
