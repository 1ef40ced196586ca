/** `node:dns` in a function, with the answers of a fake host. */
import { assert, describe, layer } from "@effect/vitest"
import { HostCallRefused } from "@weft/core/adapter"
import { Effect } from "effect"
import { load, type OnHostCall, oneRunner } from "./Functions.ts"
import { bundleFiles } from "./Projects.ts"

const source = `
  import dns, { lookup, promises as fromDns } from "node:dns"
  import promises, { lookup as find } from "node:dns/promises"
  import { promisify } from "node:util"

  const attempt = async (act) => {
    try { return await act() } catch ({ message, code, syscall, hostname }) { return { message, code, syscall, hostname } }
  }
  const called = (act) => new Promise((resolve) => act((...given) => resolve(given.map((one) => one?.code ?? one))))

  export const main = async () => ({
    first: await find("both.test"),
    all: await find("both.test", { all: true }),
    six: await find("both.test", 6),
    sorted: await find("both.test", { all: true, order: "ipv6first" }),
    literal: await find("::1"),
    empty: await find(""),
    resolve: [await promises.resolve("both.test"), await promises.resolve("both.test", "AAAA"),
      await promises.resolve4("both.test"), await promises.resolve6("both.test")],
    resolver: await new promises.Resolver().resolve4("both.test"),
    same: fromDns === promises && dns.promises === promises && dns.lookup === lookup,
    callbacks: [
      await called((done) => lookup("both.test", done)),
      await called((done) => lookup("both.test", { family: 6 }, done)),
      await called((done) => lookup("both.test", { all: true }, done)),
      await called((done) => dns.lookup("none.test", done)),
      await called((done) => dns.resolve("both.test", done)),
      await called((done) => dns.resolve("both.test", "AAAA", done)),
      await called((done) => dns.resolve4("four.test", done)),
      await called((done) => new dns.Resolver().resolve6("both.test", {}, done)),
      await called((done) => dns.resolve6("four.test", done))
    ]
  })

  export const failures = async () => [
    await attempt(() => find("none.test")),
    await attempt(() => find("four.test", { family: 6 })),
    await attempt(() => promises.resolve6("four.test")),
    await attempt(() => find("inner.test")),
    await attempt(() => promises.resolve4("inner.test")),
    await attempt(() => find("broken.test")),
    await attempt(() => promises.resolve4("broken.test"))
  ]

  export const missing = async () => [
    await attempt(() => promises.resolveMx("a.test")),
    await attempt(() => dns.reverse("192.0.2.1", () => undefined)),
    await attempt(() => promises.resolve("a.test", "TXT")),
    await attempt(() => promises.resolve4("a.test", { ttl: true })),
    await attempt(() => dns.setServers(["192.0.2.1"]))
  ].map(({ message, code }) => [message, code])

  export const invalid = async () => [
    await attempt(() => find(1)),
    await attempt(() => find("a.test", 5)),
    await attempt(() => lookup("a.test")),
    await attempt(() => dns.setDefaultResultOrder("any"))
  ].map(({ code }) => code)
`

const addresses: Readonly<Record<string, ReadonlyArray<string>>> = {
  "both.test": ["192.0.2.1", "192.0.2.2", "2001:db8::1"],
  "four.test": ["192.0.2.4"]
}

const failures: Readonly<Record<string, HostCallRefused>> = {
  "inner.test": new HostCallRefused({ name: "EgressRefused", message: "inner.test is not allowed here" }),
  "broken.test": new HostCallRefused({ name: "EgressFailed", message: "no server answers" })
}

const answer: OnHostCall = ({ op, payload }) => {
  const { host } = JSON.parse(payload)
  assert.strictEqual(op, "dns.lookup")
  const failure = failures[host]
  return failure === undefined ? Effect.succeed(JSON.stringify(addresses[host] ?? [])) : Effect.fail(failure)
}

describe("node:dns in a function", () => {
  layer(oneRunner)((it) => {
    const start = Effect.suspend(() =>
      Effect.flatMap(
        Effect.promise(() => bundleFiles({ "index.js": source }, { entry: "index.js" })),
        load
      )
    )

    it.effect("returns addresses in the forms of Node", () =>
      Effect.gen(function* () {
        const call = yield* start
        const [one, two, six] = [
          { address: "192.0.2.1", family: 4 },
          { address: "192.0.2.2", family: 4 },
          { address: "2001:db8::1", family: 6 }
        ]
        const four = ["192.0.2.1", "192.0.2.2"]
        assert.deepStrictEqual(yield* call("main", answer), {
          first: one,
          all: [one, two, six],
          six,
          sorted: [six, one, two],
          literal: { address: "::1", family: 6 },
          empty: { address: null, family: 4 },
          resolve: [four, ["2001:db8::1"], four, ["2001:db8::1"]],
          resolver: four,
          same: true,
          callbacks: [
            [null, "192.0.2.1", 4],
            [null, "2001:db8::1", 6],
            [null, [one, two, six]],
            ["ENOTFOUND"],
            [null, four],
            [null, ["2001:db8::1"]],
            [null, ["192.0.2.4"]],
            [null, ["2001:db8::1"]],
            ["ENODATA"]
          ]
        })
      })
    )

    it.effect("fails with the codes of Node and the reason of the host", () =>
      Effect.gen(function* () {
        const call = yield* start
        const failure = (syscall: string, code: string, hostname: string, reason = "") => ({
          message: `${syscall} ${code} ${hostname}${reason}`,
          code,
          syscall,
          hostname
        })
        assert.deepStrictEqual(yield* call("failures", answer), [
          failure("getaddrinfo", "ENOTFOUND", "none.test"),
          failure("getaddrinfo", "ENOTFOUND", "four.test"),
          failure("queryAaaa", "ENODATA", "four.test"),
          failure("getaddrinfo", "EAI_FAIL", "inner.test", ": inner.test is not allowed here"),
          failure("queryA", "EREFUSED", "inner.test", ": inner.test is not allowed here"),
          failure("getaddrinfo", "EAI_AGAIN", "broken.test", ": no server answers"),
          failure("queryA", "ESERVFAIL", "broken.test", ": no server answers")
        ])
      })
    )

    it.effect("names what functions do not have, and invalid arguments", () =>
      Effect.gen(function* () {
        const call = yield* start
        const code = "ERR_METHOD_NOT_IMPLEMENTED"
        const overHttps = "use a service for DNS over HTTPS with `fetch`"
        assert.deepStrictEqual(yield* call("missing"), [
          [`dns.resolveMx is not available in functions: ${overHttps}`, code],
          [`dns.reverse is not available in functions: ${overHttps}`, code],
          [`dns.resolve of TXT records is not available in functions: ${overHttps}`, code],
          ["dns.resolve4 with the option ttl is not available in functions: leave out `ttl`", code],
          ["dns.setServers is not available in functions: the host selects the name servers", code]
        ])
        const type = "ERR_INVALID_ARG_TYPE"
        const value = "ERR_INVALID_ARG_VALUE"
        assert.deepStrictEqual(yield* call("invalid"), [type, value, type, value])
      })
    )
  })
})
