/** Names whose addresses change, served by a real name server. */
import { assert, describe, it } from "@effect/vitest"
import { egress } from "@weft/egress"
import { Effect } from "effect"
import { nameServer } from "./NameServer.ts"
import { ask, refusal, serve } from "./Servers.ts"

describe("a name that changes its address", () => {
  it.live("is resolved once per request, and connected to a checked address", () =>
    Effect.gen(function* () {
      const open = yield* serve((_, response) => response.end("open"), { address: "127.0.0.2" })
      const inner = yield* serve((_, response) => response.end("inner"), { address: "127.0.0.1", port: open.port })
      let answers = 0
      // The public address for the first query, the internal one for later queries.
      const dns = yield* nameServer((_, type) =>
        type === "AAAA" ? [] : [answers++ % 2 === 0 ? "127.0.0.2" : "127.0.0.1"]
      )
      yield* Effect.gen(function* () {
        const url = `http://rebind.test:${open.port}/`
        for (let round = 0; round < 3; round++) {
          assert.strictEqual((yield* ask(url)).body, "open")
          assert.deepStrictEqual(yield* refusal(url), [
            "EgressRefused",
            "rebind.test has a loopback address, which is not allowed here"
          ])
        }
      }).pipe(Effect.provide(egress({ policy: { allow: ["127.0.0.2"] }, nameServers: [dns.at] })))
      assert.strictEqual(dns.questions.length, 6)
      assert.strictEqual(inner.accepted(), 0)
    }).pipe(Effect.scoped)
  )

  it.live("is refused if any of its addresses is refused", () =>
    Effect.gen(function* () {
      const open = yield* serve((_, response) => response.end("open"), { address: "127.0.0.2" })
      const zones: Readonly<Record<string, readonly [a: ReadonlyArray<string>, aaaa: ReadonlyArray<string>]>> = {
        "both.test": [["127.0.0.2", "127.0.0.1"], []],
        "six.test": [["127.0.0.2"], ["::1"]],
        "mapped.test": [["127.0.0.2"], ["::ffff:a00:1"]],
        "meta.test": [["169.254.169.254"], []],
        "fine.test": [["127.0.0.2"], []],
        "nothing.test": [[], []]
      }
      const dns = yield* nameServer((name, type) => zones[name]?.[type === "A" ? 0 : 1] ?? [])
      yield* Effect.gen(function* () {
        const reason = (name: string) => Effect.map(refusal(`http://${name}:${open.port}/`), ([, text]) => text)
        assert.strictEqual(yield* reason("both.test"), "both.test has a loopback address, which is not allowed here")
        assert.strictEqual(yield* reason("six.test"), "six.test has a loopback address, which is not allowed here")
        assert.strictEqual(yield* reason("mapped.test"), "mapped.test has a private address, which is not allowed here")
        assert.strictEqual(yield* reason("meta.test"), "meta.test has a metadata address, which is not allowed here")
        assert.strictEqual(yield* reason("nothing.test"), "nothing.test has no address")
        assert.strictEqual(open.accepted(), 0)
        assert.strictEqual((yield* ask(`http://fine.test:${open.port}/`)).body, "open")
      }).pipe(Effect.provide(egress({ policy: { allow: ["127.0.0.2"] }, nameServers: [dns.at] })))
    }).pipe(Effect.scoped)
  )

  it.live("is resolved and checked again for each redirect, also to another port of the same name", () =>
    Effect.gen(function* () {
      const inner = yield* serve((_, response) => response.end("inner"), { address: "127.0.0.1" })
      let redirects = 0
      const open = yield* serve(
        ({ url }, response) => {
          const location =
            url === "/elsewhere" ? `http://other.test:${inner.port}/` : `http://rebind.test:${inner.port}/`
          redirects++
          response.writeHead(302, { location }).end()
        },
        { address: "127.0.0.2" }
      )
      // Each name leads to the public address once, and to an internal one after that.
      const internal = ["127.0.0.1", "169.254.169.254", "10.0.0.1", "0.0.0.0"]
      let answers = 0
      const dns = yield* nameServer((name, type) => {
        if (type === "AAAA") return []
        if (name === "other.test") return ["127.0.0.1"]
        return answers++ % 2 === 0 ? ["127.0.0.2"] : [internal[(answers / 2 - 1) % internal.length] ?? ""]
      })
      yield* Effect.gen(function* () {
        for (const range of ["a loopback", "a metadata", "a private", "an unspecified"]) {
          assert.deepStrictEqual(yield* refusal(`http://rebind.test:${open.port}/`), [
            "EgressRefused",
            `rebind.test has ${range} address, which is not allowed here`
          ])
        }
        const [, reason] = yield* refusal(`http://rebind.test:${open.port}/elsewhere`)
        assert.strictEqual(reason, "other.test has a loopback address, which is not allowed here")
      }).pipe(Effect.provide(egress({ policy: { allow: ["127.0.0.2"] }, nameServers: [dns.at] })))
      assert.strictEqual(redirects, 5)
      assert.strictEqual(inner.accepted(), 0)
    }).pipe(Effect.scoped)
  )

  it.live("never reaches an internal address in an IPv6 form", () =>
    Effect.gen(function* () {
      const inner = yield* serve((_, response) => response.end("inner"), { address: "::" })
      const addresses = {
        "loopback.test": "::1",
        "mapped.test": "::ffff:7f00:1",
        "nat64.test": "64:ff9b::7f00:1",
        "nat64-metadata.test": "64:ff9b::a9fe:a9fe",
        "local-nat64.test": "64:ff9b:1::7f00:1",
        "compatible.test": "::7f00:1",
        "six-to-four.test": "2002:7f00:1::",
        "unspecified.test": "::",
        "unique-local.test": "fd00::1",
        "metadata.test": "fd00:ec2::254"
      }
      const zone = new Map(Object.entries(addresses))
      const dns = yield* nameServer((name, type) => (type === "AAAA" ? [zone.get(name) ?? ""] : []))
      yield* Effect.gen(function* () {
        for (const name of zone.keys()) {
          const [tag, reason] = yield* refusal(`http://${name}:${inner.port}/`)
          assert.strictEqual(tag, "EgressRefused", name)
          assert.match(reason ?? "", / address, which is not allowed here$/, name)
        }
      }).pipe(Effect.provide(egress({ nameServers: [dns.at] })))
      assert.strictEqual(inner.accepted(), 0)
    }).pipe(Effect.scoped)
  )

  it.live("may be allowed by its name, but never reaches cloud metadata", () =>
    Effect.gen(function* () {
      const inner = yield* serve((request, response) => response.end(request.headers.host))
      const dns = yield* nameServer((name, type) =>
        type === "AAAA" ? [] : name === "db.internal" ? ["127.0.0.1"] : ["169.254.169.254"]
      )
      yield* Effect.gen(function* () {
        const { body } = yield* ask(`http://db.internal:${inner.port}/`)
        assert.strictEqual(body, `db.internal:${inner.port}`)
        assert.match((yield* refusal("http://meta.internal/"))[1] ?? "", /^meta\.internal has a metadata address/)
        assert.match((yield* refusal(`http://internal:${inner.port}/`))[1] ?? "", /^internal has a metadata address/)
      }).pipe(Effect.provide(egress({ policy: { allow: ["*.internal"] }, nameServers: [dns.at] })))
    }).pipe(Effect.scoped)
  )
})
