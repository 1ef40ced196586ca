import { assert, describe, it } from "@effect/vitest"
import { checkAddresses, checkDestination, type EgressPolicy, egressRules, parseTarget } from "@weft/core/adapter"
import { Result } from "effect"

const rules = (policy: Partial<EgressPolicy> = {}) => Result.getOrThrow(egressRules(policy))
const to = (host: string, port = 443) => ({ scheme: "https", host, port })
const reasonOf = (policy: Partial<EgressPolicy>, host: string, addresses: ReadonlyArray<string>, port = 443) =>
  checkAddresses(rules(policy), to(host, port), addresses)?.message ?? null

describe("an entry of a policy", () => {
  it("is a name, a wildcard name, an address or a block, optionally with a port", () => {
    const kinds = [
      "db.internal",
      "*.internal",
      "localhost:8081",
      "10.0.0.1",
      "10.0.0.1:80",
      "10.0.0.0/8",
      "::1",
      "[::1]:80",
      "fd00::/8",
      "xn--bcher-kva.example",
      "a_b.example."
    ]
    for (const entry of kinds) assert.isNotNull(parseTarget(entry), entry)
    assert.deepStrictEqual(parseTarget("Example.COM.:8080"), {
      what: { kind: "name", name: "example.com", below: false },
      port: 8080
    })
    for (const entry of [
      "",
      "*",
      "*.",
      "a..b",
      "-a.b",
      "http://a",
      "a/b",
      "1.2.3",
      "1.2.3.400",
      "a:70000",
      "bücher.de",
      "a b"
    ]) {
      assert.isNull(parseTarget(entry), entry)
    }
  })
})

describe("a destination", () => {
  it("may match a name of the policy, regardless of case", () => {
    const policy = { deny: ["evil.example", "*.tracker.example"] }
    const judged = (host: string) => checkDestination(rules(policy), to(host))?.message ?? null
    assert.strictEqual(judged("evil.example"), "evil.example is not allowed here")
    assert.strictEqual(judged("EVIL.example."), "evil.example is not allowed here")
    assert.strictEqual(judged("a.tracker.example"), "a.tracker.example is not allowed here")
    assert.isNull(judged("tracker.example"))
    assert.isNull(judged("notevil.example"))
    assert.isNull(judged("evil.example.com"))
  })

  it("needs an allowed port; an entry with a port allows ports of other protocols", () => {
    const judged = (policy: Partial<EgressPolicy>, host: string, port: number) =>
      checkDestination(rules(policy), to(host, port)) === null
    assert.isTrue(judged({}, "a.example", 8080))
    assert.isFalse(judged({}, "a.example", 25))
    assert.isFalse(judged({ allow: ["a.example"] }, "a.example", 25))
    assert.isTrue(judged({ allow: ["a.example:25"] }, "a.example", 25))
    assert.isTrue(judged({ allow: ["10.0.0.1:6000"] }, "10.0.0.1", 6000))
    assert.isFalse(judged({ ports: [443] }, "a.example", 80))
    assert.isTrue(judged({ ports: [443] }, "a.example", 443))
  })
})

describe("addresses", () => {
  it("must all be allowed and valid, and there must be one", () => {
    assert.isNull(reasonOf({}, "a.example", ["8.8.8.8", "2606:4700::1111"]))
    assert.strictEqual(
      reasonOf({}, "a.example", ["8.8.8.8", "10.0.0.1"]),
      "a.example has a private address, which is not allowed here"
    )
    assert.strictEqual(reasonOf({}, "a.example", []), "a.example has no address")
    assert.strictEqual(reasonOf({}, "a.example", ["fe80::1%eth0"]), "a.example has an address that cannot be parsed")
    assert.strictEqual(
      reasonOf({}, "127.0.0.1", ["127.0.0.1"]),
      "127.0.0.1 is a loopback address, which is not allowed here"
    )
  })

  it("are allowed by blocks and names, except metadata by a name, and denied in every notation", () => {
    assert.isNull(reasonOf({ allow: ["10.0.0.0/8"] }, "a.example", ["::ffff:10.0.0.1"]))
    assert.isNotNull(reasonOf({ allow: ["10.0.0.0/8"] }, "a.example", ["64:ff9b::a00:1"]))
    assert.isNull(reasonOf({ allow: ["*.internal"] }, "db.internal", ["10.0.0.1", "fd00::1"]))
    assert.isNotNull(reasonOf({ allow: ["*.internal"] }, "db.internal", ["169.254.169.254"]))
    assert.isNull(reasonOf({ allow: ["169.254.169.254"] }, "db.internal", ["169.254.169.254"]))
    assert.isNotNull(reasonOf({ deny: ["8.8.8.0/24"] }, "a.example", ["8.8.8.8"]))
    assert.isNotNull(reasonOf({ deny: ["8.8.8.0/24"] }, "a.example", ["64:ff9b::808:808"]))
    assert.isNotNull(reasonOf({ deny: ["10.0.0.1"], allow: ["10.0.0.0/8"] }, "a.example", ["10.0.0.1"]))
    assert.isNull(reasonOf({ allow: ["10.0.0.1:8080"] }, "a.example", ["10.0.0.1"], 8080))
    assert.isNotNull(reasonOf({ allow: ["10.0.0.1:8080"] }, "a.example", ["10.0.0.1"], 80))
  })
})
