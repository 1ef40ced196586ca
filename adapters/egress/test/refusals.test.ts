import { assert, describe, it } from "@effect/vitest"
import { egress } from "@weft/egress"
import { Effect } from "effect"
import { ask, refusal, serve } from "./Servers.ts"

const refused: ReadonlyArray<readonly [host: string, range: string]> = [
  ["127.0.0.1", "loopback"],
  ["127.255.255.254", "loopback"],
  // Forms that the URL parser normalizes: decimal, octal, hexadecimal, short, full width.
  ["2130706433", "loopback"],
  ["0177.0.0.1", "loopback"],
  ["0x7f.0.0.1", "loopback"],
  ["0x7f000001", "loopback"],
  ["127.1", "loopback"],
  ["１２７.０.０.１", "loopback"],
  ["127.0.0.1.", "loopback"],
  ["0.0.0.0", "unspecified"],
  ["0", "unspecified"],
  ["10.0.0.1", "private"],
  ["172.16.0.1", "private"],
  ["192.168.1.1", "private"],
  ["100.64.0.1", "shared"],
  ["169.254.1.1", "link-local"],
  ["169.254.169.254", "metadata"],
  ["2852039166", "metadata"],
  ["0xa9fea9fe", "metadata"],
  ["168.63.129.16", "metadata"],
  ["192.0.2.1", "documentation"],
  ["198.18.0.1", "benchmarking"],
  ["224.0.0.1", "multicast"],
  ["240.0.0.1", "reserved"],
  ["255.255.255.255", "broadcast"],
  ["[::]", "unspecified"],
  ["[::1]", "loopback"],
  ["[0:0:0:0:0:0:0:1]", "loopback"],
  ["[fe80::1]", "link-local"],
  ["[fc00::1]", "private"],
  ["[fd00:ec2::254]", "metadata"],
  ["[fec0::1]", "private"],
  ["[ff02::1]", "multicast"],
  ["[2001:db8::1]", "documentation"],
  ["[100::1]", "reserved"],
  // IPv4 addresses embedded in IPv6.
  ["[::ffff:127.0.0.1]", "loopback"],
  ["[::ffff:7f00:1]", "loopback"],
  ["[::ffff:a9fe:a9fe]", "metadata"],
  ["[::127.0.0.1]", "loopback"],
  ["[::8.8.8.8]", "transition"],
  ["[64:ff9b::127.0.0.1]", "loopback"],
  ["[64:ff9b::169.254.169.254]", "metadata"],
  ["[64:ff9b:1::8.8.8.8]", "private"],
  ["[2002:7f00:1::]", "loopback"],
  ["[2002:a00:1::]", "private"],
  ["[2001:0:808:808::f5ff:fffe]", "private"]
]

describe("the default policy", () => {
  it.live("refuses every address that is not public, in every notation", () =>
    Effect.gen(function* () {
      for (const [host, range] of refused) {
        const [tag, reason] = yield* refusal(`http://${host}/`)
        assert.strictEqual(tag, "EgressRefused", host)
        assert.match(reason ?? "", new RegExp(` is an? ${range} address, which is not allowed here$`), host)
      }
    }).pipe(Effect.provide(egress()))
  )

  it.live("refuses localhost without a DNS query, other schemes, ports of other protocols, and credentials", () =>
    Effect.gen(function* () {
      const localhost = ["EgressRefused", "localhost has a loopback address, which is not allowed here"]
      assert.deepStrictEqual(yield* refusal("http://LOCALHOST/"), localhost)
      assert.deepStrictEqual(yield* refusal("http://localhost./"), localhost)
      assert.match((yield* refusal("http://db.localhost/"))[1] ?? "", /^db\.localhost has a loopback address/)
      for (const url of ["file:///etc/passwd", "ftp://example.com/", "data:,x", "gopher://example.com/"]) {
        assert.match((yield* refusal(url))[1] ?? "", /^only http and https are allowed/, url)
      }
      assert.deepStrictEqual(yield* refusal("http://8.8.8.8:22/"), ["EgressRefused", "port 22 is not allowed here"])
      assert.deepStrictEqual(yield* refusal("http://a:b@8.8.8.8/"), [
        "EgressRefused",
        "the URL must not include credentials"
      ])
      assert.deepStrictEqual(yield* refusal("nonsense"), ["EgressRefused", "the URL is invalid"])
    }).pipe(Effect.provide(egress()))
  )
})

describe("a redirect", () => {
  it.live("is checked like a first request: private addresses, their names, and other schemes", () =>
    Effect.gen(function* () {
      let asked = 0
      const secret = yield* serve(
        (_, response) => {
          asked++
          response.end("secret")
        },
        { address: "127.0.0.2" }
      )
      const server = yield* serve((request, response) => {
        const target = decodeURIComponent(request.url?.slice(1) ?? "")
        response.writeHead(302, { location: target }).end()
      })
      const targets = [
        `http://127.0.0.2:${secret.port}/`,
        `//127.0.0.2:${secret.port}/`,
        `http://[::ffff:127.0.0.2]:${secret.port}/`,
        "http://169.254.169.254/latest/meta-data/",
        `http://localhost:${secret.port}/`,
        "file:///etc/passwd",
        `${server.url}/${encodeURIComponent("http://10.0.0.1/")}`
      ]
      for (const target of targets) {
        const [tag, reason] = yield* refusal(`${server.url}/${encodeURIComponent(target)}`)
        assert.strictEqual(tag, "EgressRefused", target)
        assert.match(reason ?? "", /not allowed here$|only http and https/, target)
      }
      assert.strictEqual(asked, 0)
      assert.strictEqual(secret.accepted(), 0)
    }).pipe(Effect.scoped, Effect.provide(egress({ policy: { allow: ["127.0.0.1"] } })))
  )
})

describe("a policy", () => {
  const reach = (policy: Parameters<typeof egress>[0]) =>
    Effect.gen(function* () {
      const server = yield* serve((_, response) => response.end("reached"))
      return yield* Effect.provide(ask(server.url), egress(policy))
    }).pipe(Effect.scoped, Effect.match({ onSuccess: ({ body }) => body, onFailure: ({ message }) => message }))

  it.live("allows addresses and blocks, and denies them again", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* reach({ policy: { allow: ["127.0.0.0/8"] } }), "reached")
      assert.strictEqual(yield* reach({ policy: { ranges: ["public", "loopback"] } }), "reached")
      assert.match(yield* reach({ policy: { allow: ["127.0.0.2", "10.0.0.0/8"] } }), /is a loopback address/)
      assert.match(yield* reach({ policy: { allow: ["127.0.0.1:1"] } }), /is a loopback address/)
      assert.match(
        yield* reach({ policy: { allow: ["127.0.0.0/8"], deny: ["127.0.0.1"] } }),
        /is an address that is not allowed here/
      )
      assert.match(yield* reach({ policy: { allow: ["127.0.0.1"], ports: [443] } }), /^port \d+ is not allowed here$/)
    })
  )

  it.live("allows one port of a host, and a name with the addresses that the system resolves", () =>
    Effect.gen(function* () {
      const server = yield* serve((_, response) => response.end("reached"))
      const other = yield* serve((_, response) => response.end("other"))
      const layer = egress({ policy: { allow: [`localhost:${server.port}`] } })
      const reached = yield* Effect.provide(ask(`http://localhost:${server.port}/`), layer)
      assert.strictEqual(reached.body, "reached")
      const refused = yield* Effect.provide(refusal(`http://localhost:${other.port}/`), layer)
      assert.match(refused[1] ?? "", /loopback/)
      assert.strictEqual(other.accepted(), 0)
    }).pipe(Effect.scoped)
  )

  it.effect("that is invalid prevents the start", () =>
    Effect.gen(function* () {
      for (const entry of ["10.0.0.0/33", "10.0.0.1/8", "http://example.com", "a b", "1.2.3", "host:99999", ""]) {
        const error = yield* Effect.flip(Effect.provide(Effect.void, egress({ policy: { allow: [entry] } })))
        assert.strictEqual(error._tag, "EgressPolicyInvalid", entry)
      }
    })
  )
})
