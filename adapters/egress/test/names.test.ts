/** Lookups of names for guests, by a real name server. */
import { createSocket } from "node:dgram"
import { assert, describe, it } from "@effect/vitest"
import { Egress } from "@weft/core/adapter"
import { egress } from "@weft/egress"
import { Effect } from "effect"
import { nameServer, type Zone } from "./NameServer.ts"
import { envOf } from "./Servers.ts"

const lookup = (host: string, env = 1) => Effect.flatMap(Egress, (service) => service.lookup(envOf(env), host))

const refusal = (host: string) => Effect.map(Effect.flip(lookup(host)), (error) => [error._tag, error.message])

const zones: Readonly<Record<string, readonly [a: ReadonlyArray<string>, aaaa: ReadonlyArray<string>]>> = {
  "fine.test": [["8.8.8.8", "8.8.4.4"], ["2001:4860:4860::8888"]],
  "four.test": [["8.8.8.8"], []],
  "mixed.test": [["8.8.8.8", "10.0.0.1"], []],
  "six.test": [["8.8.8.8"], ["::1"]],
  "mapped.test": [["8.8.8.8"], ["::ffff:a00:1"]],
  "meta.test": [["169.254.169.254"], []],
  "db.inner": [["10.0.0.7"], []],
  "meta.inner": [["169.254.169.254"], []]
}
const zone: Zone = (name, type) => zones[name]?.[type === "A" ? 0 : 1] ?? []

describe("a lookup", () => {
  it.live("returns the public addresses of a name, and none for a name without addresses", () =>
    Effect.gen(function* () {
      const dns = yield* nameServer(zone)
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* lookup("fine.test"), ["8.8.8.8", "8.8.4.4", "2001:4860:4860::8888"])
        assert.deepStrictEqual(yield* lookup("FOUR.test"), ["8.8.8.8"])
        assert.deepStrictEqual(yield* lookup("missing.test"), [])
        assert.deepStrictEqual(yield* lookup("1.1.1.1"), ["1.1.1.1"])
      }).pipe(Effect.provide(egress({ nameServers: [dns.at] })))
    }).pipe(Effect.scoped)
  )

  it.live("reveals no address that the policy refuses, and asks no name server about refused names", () =>
    Effect.gen(function* () {
      const dns = yield* nameServer(zone)
      yield* Effect.gen(function* () {
        const classes: ReadonlyArray<readonly [string, string]> = [
          ["mixed.test", "private"],
          ["six.test", "loopback"],
          ["mapped.test", "private"],
          ["meta.test", "metadata"],
          ["db.inner", "private"]
        ]
        for (const [name, range] of classes) {
          assert.deepStrictEqual(yield* refusal(name), [
            "EgressRefused",
            `${name} has a ${range} address, which is not allowed here`
          ])
        }
        const asked = dns.questions.length
        const refused: ReadonlyArray<readonly [string, RegExp]> = [
          ["localhost", /loopback address/],
          ["a.localhost", /loopback address/],
          ["127.0.0.1", /loopback address/],
          ["[::1]", /loopback address/],
          ["0x7f.1", /loopback address/],
          ["denied.test", /not allowed here/],
          ["denied.test.", /not allowed here/],
          ["a b", /not a name or an address/],
          ["a.test/path", /not a name or an address/],
          ["user@a.test", /not a name or an address/],
          ["a.test:80", /not a name or an address/]
        ]
        for (const [name, reason] of refused) {
          const [tag, message] = yield* refusal(name)
          assert.strictEqual(tag, "EgressRefused", name)
          assert.match(message ?? "", reason, name)
        }
        assert.strictEqual(dns.questions.length, asked)
      }).pipe(Effect.provide(egress({ policy: { deny: ["denied.test"] }, nameServers: [dns.at] })))
    }).pipe(Effect.scoped)
  )

  it.live("returns private addresses of names in `allow` with any port, and still no metadata address", () =>
    Effect.gen(function* () {
      const dns = yield* nameServer(zone)
      const policy = { allow: ["*.inner:5432"], deny: ["four.test:25"], ports: [443] }
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* lookup("db.inner"), ["10.0.0.7"])
        assert.deepStrictEqual(yield* lookup("four.test"), ["8.8.8.8"])
        assert.match((yield* refusal("meta.inner"))[1] ?? "", /metadata address/)
      }).pipe(Effect.provide(egress({ policy, nameServers: [dns.at] })))
    }).pipe(Effect.scoped)
  )

  it.live("returns at most 32 addresses", () =>
    Effect.gen(function* () {
      const dns = yield* nameServer((_, type) =>
        type === "A"
          ? Array.from({ length: 24 }, (_, index) => `8.8.8.${index + 1}`)
          : Array.from({ length: 12 }, (_, index) => `2001:4860::${index + 1}`)
      )
      const addresses = yield* Effect.provide(lookup("m.t"), egress({ nameServers: [dns.at] }))
      assert.strictEqual(addresses.length, 32)
    }).pipe(Effect.scoped)
  )

  it.live("fails after the policy's time, which includes the wait for a free request", () =>
    Effect.gen(function* () {
      const silent = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const socket = createSocket("udp4")
          let questions = 0
          socket.on("message", () => questions++)
          await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve))
          return { socket, count: () => questions }
        }),
        ({ socket }) => Effect.sync(() => socket.close())
      )
      const policy = { totalMs: 300, concurrentPerEnv: 1 }
      const layer = egress({ policy, nameServers: [`127.0.0.1:${silent.socket.address().port}`] })
      const failures = yield* Effect.provide(
        Effect.all([refusal("first.test"), refusal("second.test")], { concurrency: 2 }),
        layer
      )
      const late = ["EgressFailed", "the lookup took longer than 300 ms"]
      assert.deepStrictEqual(failures, [late, late])
      // One query for each family: the second lookup had no turn.
      assert.strictEqual(silent.count(), 2)
    }).pipe(Effect.scoped)
  )
})
