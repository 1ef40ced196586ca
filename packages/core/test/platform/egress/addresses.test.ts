import { BlockList, isIPv4, isIPv6 } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { classifyAddress, isWithin, parseBlock, parseIp } from "@weft/core/adapter"
import fc from "fast-check"

const rangeOfText = (text: string) => {
  const address = parseIp(text)
  return address === null ? "none" : classifyAddress(address)
}

const octet = fc.integer({ min: 0, max: 255 })
const dotted = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join("."))
const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16))
const ipv6 = fc.oneof(
  fc.ipV6(),
  fc.array(group, { minLength: 8, maxLength: 8 }).map((groups) => groups.join(":")),
  fc.tuple(group, group, group).map(([a, b, c]) => `${a}::${b}:${c}`),
  fc.tuple(group, dotted).map(([a, v4]) => `${a}::${v4}`)
)
const anyText = fc.oneof(dotted, ipv6, fc.string(), fc.stringMatching(/^[0-9a-f:.]{0,40}$/))

describe("an address", () => {
  it("is parsed exactly if Node accepts it", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const family = isIPv4(text) ? 4 : isIPv6(text) && !text.includes("%") ? 6 : undefined
        assert.strictEqual(parseIp(text)?.family, family, text)
      }),
      { numRuns: 2000 }
    )
  })

  it("has the same value in every notation", () => {
    for (const [one, other] of [
      ["::1", "0:0:0:0:0:0:0:1"],
      ["[2001:DB8::A]", "2001:db8:0:0:0:0:0:a"],
      ["::ffff:1.2.3.4", "::ffff:102:304"],
      ["1::", "1:0:0:0:0:0:0:0"]
    ] as const) {
      assert.deepStrictEqual(parseIp(one), parseIp(other))
    }
  })

  it("is within a block exactly if Node finds it there", () => {
    const block = fc.oneof(
      fc.tuple(dotted, fc.integer({ min: 0, max: 32 }), dotted, fc.constant("ipv4" as const)),
      fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 }), fc.ipV6(), fc.constant("ipv6" as const))
    )
    fc.assert(
      fc.property(block, ([base, prefix, other, family]) => {
        const list = new BlockList()
        list.addSubnet(base, prefix, family)
        const parsedBase = parseIp(base)
        const address = parseIp(other)
        if (parsedBase === null || address === null) throw new Error("not an address")
        const bits = BigInt((family === "ipv4" ? 32 : 128) - prefix)
        const aligned = { base: { ...parsedBase, value: (parsedBase.value >> bits) << bits }, prefix }
        for (const each of [parsedBase, address]) {
          const inNode = list.check(each === address ? other : base, family)
          assert.strictEqual(isWithin(each, aligned), inNode)
        }
      })
    )
  })
})

describe("a block", () => {
  it("is an address and a length, without bits beyond it", () => {
    assert.strictEqual(parseBlock("10.0.0.0/8")?.prefix, 8)
    assert.strictEqual(parseBlock("10.0.0.1")?.prefix, 32)
    assert.strictEqual(parseBlock("::/0")?.prefix, 0)
    for (const text of [
      "10.0.0.1/8",
      "10.0.0.0/33",
      "10.0.0.0/",
      "10.0.0.0/08",
      "::/129",
      "10/8",
      "a/8",
      "1.2.3.4/8/8"
    ]) {
      assert.isNull(parseBlock(text), text)
    }
  })
})

describe("the range of an address", () => {
  it("is correct at the edges of every block", () => {
    const edges: ReadonlyArray<readonly [before: string, first: string, last: string, after: string, range: string]> = [
      ["-", "0.0.0.0", "0.255.255.255", "1.0.0.0", "unspecified"],
      ["9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0", "private"],
      ["100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0", "shared"],
      ["126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0", "loopback"],
      ["169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0", "link-local"],
      ["172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0", "private"],
      ["191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0", "reserved"],
      ["192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0", "documentation"],
      ["192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0", "reserved"],
      ["192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0", "private"],
      ["198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0", "benchmarking"],
      ["198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0", "documentation"],
      ["203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0", "documentation"],
      ["223.255.255.255", "224.0.0.0", "239.255.255.255", "-", "multicast"],
      ["-", "240.0.0.0", "255.255.255.254", "-", "reserved"],
      ["-", "255.255.255.255", "255.255.255.255", "-", "broadcast"],
      ["2001:db7:ffff::", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::", "documentation"],
      ["3ffe:ffff::", "3fff::", "3fff:fff:ffff::", "3fff:1000::", "documentation"],
      ["-", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "-", "private"],
      ["-", "fe80::", "febf:ffff::", "-", "link-local"],
      ["-", "fec0::", "feff:ffff::", "-", "private"],
      ["-", "ff00::", "ffff:ffff::", "-", "multicast"],
      ["-", "100::", "1fff:ffff::", "2000::", "reserved"],
      ["3fff:ffff::", "4000::", "fbff:ffff::", "-", "reserved"]
    ]
    for (const [before, first, last, after, range] of edges) {
      for (const outside of [before, after]) {
        if (outside !== "-") assert.strictEqual(rangeOfText(outside), "public", outside)
      }
      assert.strictEqual(rangeOfText(first), range, first)
      assert.strictEqual(rangeOfText(last), range, last)
    }
  })

  it("is public for public addresses", () => {
    for (const text of [
      "1.1.1.1",
      "8.8.8.8",
      "93.184.215.14",
      "2606:4700::1111",
      "2a00:1450:4001::1",
      "64:ff9b::808:808"
    ]) {
      assert.strictEqual(rangeOfText(text), "public", text)
    }
  })

  it("is that of the embedded IPv4 address of an IPv6 address, if that is not public", () => {
    fc.assert(
      fc.property(dotted, (v4) => {
        const inner = rangeOfText(v4)
        const [a = 0, b = 0, c = 0, d = 0] = v4.split(".").map(Number)
        const hex = (high: number, low: number) => ((high << 8) | low).toString(16)
        assert.strictEqual(rangeOfText(`::ffff:${v4}`), inner)
        assert.strictEqual(rangeOfText(`64:ff9b::${v4}`), inner)
        const other = inner === "public" ? "transition" : inner
        assert.strictEqual(rangeOfText(`2002:${hex(a, b)}:${hex(c, d)}::1`), other)
        const inverted = `${hex(255 - a, 255 - b)}:${hex(255 - c, 255 - d)}`
        assert.strictEqual(rangeOfText(`2001:0:808:808::${inverted}`), other)
        assert.strictEqual(rangeOfText(`2001:0:${hex(a, b)}:${hex(c, d)}::f7f7:f7f7`), other)
      })
    )
  })
})
