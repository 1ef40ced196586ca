import { assert, describe, it } from "@effect/vitest"
import { hostOfHeader, parseHostName } from "@weft/core/adapter"
import fc from "fast-check"

describe("a host name", () => {
  it("is accepted in any script and case, and stored in canonical form", () => {
    for (const [sent, stored] of [
      ["hooks.example.com", "hooks.example.com"],
      ["HOOKS.Example.COM", "hooks.example.com"],
      ["hooks.example.com.", "hooks.example.com"],
      ["bücher.example", "xn--bcher-kva.example"],
      ["BÜCHER.example", "xn--bcher-kva.example"],
      ["xn--bcher-kva.example", "xn--bcher-kva.example"],
      ["例え.テスト", "xn--r8jz45g.xn--zckzah"],
      ["例え。テスト", "xn--r8jz45g.xn--zckzah"],
      ["1.2.3.example", "1.2.3.example"],
      ["a-b.c", "a-b.c"],
      [`${"a".repeat(63)}.example`, `${"a".repeat(63)}.example`]
    ]) {
      assert.strictEqual(parseHostName(sent ?? ""), stored)
    }
  })

  it("has at least two labels of letters, digits and inner hyphens, and is not an address", () => {
    const long = `${"a".repeat(59)}.`.repeat(4)
    assert.strictEqual(parseHostName(`${long.slice(0, 237 - 2)}.c`)?.length, 237)
    for (const sent of [
      ...["", ".", "com", "localhost", "a..b", ".a.b", "a.b..", "-a.example", "a-.example", "a_b.example"],
      ...["*.example.com", "a.*.com", "127.0.0.1", "1.2.3", "0x7f.1", "1.2.3.4.", "999.1.1.1", "[::1]", "::1"],
      ...["a.b:80", "a.b/c", "http://a.b", "u@a.b", "a.b?c", "a.b#c", " a.b", "a.b ", "a .b", "a.b\n", "a%2eb.c"],
      ...["xn--\u0000.example", "a\u00ad.b", "\u200b.example", "a,b.example"],
      ...[`${"a".repeat(64)}.example`, `${long}${"a".repeat(10)}`, "example.123", "example.0x1f", "ａ．１"]
    ]) {
      assert.isNull(parseHostName(sent), JSON.stringify(sent))
    }
  })

  it("is parsed to a form that parses to itself", () => {
    fc.assert(
      fc.property(fc.oneof(fc.domain(), fc.webAuthority(), fc.string({ unit: "grapheme" })), (text) => {
        const name = parseHostName(text)
        if (name === null) return
        assert.strictEqual(parseHostName(name), name)
        assert.match(name, /^[a-z0-9-]+(\.[a-z0-9-]+)+$/)
      })
    )
  })

  it("is read from a Host header without port, trailing dot and case", () => {
    for (const [header, host] of [
      ["hooks.example.com", "hooks.example.com"],
      ["hooks.example.com:8443", "hooks.example.com"],
      ["Hooks.Example.com.:443", "hooks.example.com"],
      ["127.0.0.1:80", "127.0.0.1"],
      ["[::1]", "[::1]"],
      ["[::1]:80", "[::1]"],
      ["", ""]
    ]) {
      assert.strictEqual(hostOfHeader(header ?? "?"), host)
    }
  })
})
