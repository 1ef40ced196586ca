import { assert, describe, it } from "@effect/vitest"
import { Dns } from "@weft/core/adapter"
import { NodeDns } from "@weft/domains"
import { Effect } from "effect"
import { afterAll, beforeAll } from "vitest"
import { DnsServer } from "./DnsServer.ts"

let server: DnsServer

beforeAll(async () => {
  server = await DnsServer.start()
})
afterAll(() => server.close())

const query = <A, E>(question: (dns: Dns["Service"]) => Effect.Effect<A, E>) =>
  Effect.runPromise(Dns.use(question).pipe(Effect.provide(NodeDns.dns({ servers: [server.address], timeoutMs: 200 }))))

const cname = (name: string) => query((dns) => dns.resolveCname(name))
const addresses = (name: string) => query((dns) => dns.resolveAddresses(name))

describe("NodeDns", () => {
  it("returns the CNAME of a name", async () => {
    server.cnames.set("alias.example.com", "target.example.net")
    assert.deepStrictEqual(await cname("alias.example.com"), ["target.example.net"])
  })

  it("returns the IPv4 and IPv6 addresses of a name, through CNAMEs", async () => {
    server.cnames.set("www.example.com", "host.example.net")
    server.addresses.set("host.example.net", ["203.0.113.7", "2001:db8::7"])
    assert.sameMembers([...(await addresses("www.example.com"))], ["203.0.113.7", "2001:db8::7"])
    server.addresses.set("four.example.net", ["203.0.113.8"])
    assert.deepStrictEqual(await addresses("four.example.net"), ["203.0.113.8"])
  })

  it("returns nothing for a missing name, or one without records of the type", async () => {
    server.addresses.set("plain.example.com", ["203.0.113.7"])
    for (const name of ["missing.example.com", "plain.example.com"]) assert.deepStrictEqual(await cname(name), [])
    assert.deepStrictEqual(await addresses("missing.example.com"), [])
  })

  it("does not cache answers", async () => {
    assert.deepStrictEqual(await cname("late.example.com"), [])
    server.cnames.set("late.example.com", "one.example.net")
    assert.deepStrictEqual(await cname("late.example.com"), ["one.example.net"])
    server.cnames.set("late.example.com", "two.example.net")
    assert.deepStrictEqual(await cname("late.example.com"), ["two.example.net"])
  })

  it("fails with DnsUnavailable when the server fails or does not answer", async () => {
    for (const failure of ["broken", "silent"] as const) {
      server.failure = failure
      for (const question of [
        (dns: Dns["Service"]) => Effect.asVoid(dns.resolveCname("x.example.com")),
        (dns: Dns["Service"]) => Effect.asVoid(dns.resolveAddresses("x.example.com"))
      ]) {
        const error = await query((dns) => Effect.flip(question(dns)))
        assert.strictEqual(error._tag, "DnsUnavailable", failure)
        assert.include(error.message, "x.example.com")
      }
      server.failure = "none"
    }
  })
})
