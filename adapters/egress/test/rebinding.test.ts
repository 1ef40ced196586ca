/** Names whose addresses change, served by a real name server. */
import { assert, describe, it } from "@effect/vitest"
import { outbound } from "@weft/egress"
import { Effect } from "effect"
import { nameServer } from "./NameServer.ts"
import { ask, refusal, serve } from "./Servers.ts"

describe("a name that changes its address", () => {
  it.live("is looked up once for each request, and connected to what was judged", () =>
    Effect.gen(function* () {
      const open = yield* serve((_, response) => response.end("open"), { address: "127.0.0.2" })
      const inner = yield* serve((_, response) => response.end("inner"), { address: "127.0.0.1", port: open.port })
      let answers = 0
      // The open address for whoever judges, the inner one for whoever asks again.
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
      }).pipe(Effect.provide(outbound({ policy: { allow: ["127.0.0.2"] }, nameServers: [dns.at] })))
      assert.strictEqual(dns.questions.length, 6)
      assert.strictEqual(inner.accepted(), 0)
    }).pipe(Effect.scoped)
  )

  it.live("is refused when any of its addresses is", () =>
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
      }).pipe(Effect.provide(outbound({ policy: { allow: ["127.0.0.2"] }, nameServers: [dns.at] })))
    }).pipe(Effect.scoped)
  )

  it.live("may be opened by its name, but never leads to cloud metadata", () =>
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
      }).pipe(Effect.provide(outbound({ policy: { allow: ["*.internal"] }, nameServers: [dns.at] })))
    }).pipe(Effect.scoped)
  )
})
