import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { sameAsNode } from "./compare.ts"
import { Guest, oracle } from "./Guest.ts"

const parts = `["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"]`

/** Returns all parts of each URL in a list of [input, base]. */
const partsOf = (inputs: ReadonlyArray<readonly [string, string?]>): string => `
  return ${JSON.stringify(inputs)}.map(([input, base]) => {
    try {
      const url = new URL(input, base ?? undefined)
      return ${parts}.map((part) => url[part])
    } catch (error) {
      return [error.name, error.code]
    }
  })`

describe("URL", () => {
  sameAsNode({
    "absolute URLs": partsOf([
      ["https://example.org"],
      ["https:example.org"],
      ["https://////example.com///"],
      ["https://example.com/././foo"],
      ["hello:world", "https://example.com"],
      ["https:example.org", "https://example.com"],
      ["\\example\\..\\demo/.\\", "https://example.com"],
      ["example", "https://example.com/demo"],
      ["file:///C|/demo"],
      ["..", "file:///C:/demo"],
      ["file://loc%61lhost/"],
      ["https://user:password@example.org/"],
      ["https://example.org/foo bar"],
      ["https://EXAMPLE.com/../x"],
      ["https://ex ample.org/"],
      ["example"],
      ["https://example.com:demo"],
      ["http://[www.example.com]/"],
      ["https://example.org//"],
      ["https://example.com/[]?[]#[]"],
      ["https://example/%?%#%"],
      ["https://example/%25?%25#%25"],
      ["mailto:a@b?subject=x#y"],
      ["data:text/plain,a b  ?q"],
      ["blob:https://example.com/id"],
      ["javascript:alert(1)"]
    ]),
    hosts: partsOf([
      ["http://192.168.257"],
      ["http://0x7f.1"],
      ["http://0300.0.0.1"],
      ["http://256.256.256.256"],
      ["http://1.2.3.4.5"],
      ["http://09"],
      ["http://4294967295"],
      ["http://4294967296"],
      ["http://[::1]:80/"],
      ["http://[1:2:0:0:5:0:0:0]"],
      ["http://[::ffff:192.0.2.1]"],
      ["http://[::1.2.3]"],
      ["http://[1::2::3]"],
      ["http://%65xample.com"],
      ["http://ex%00ample"],
      ["http://b\u00fccher.de"],
      ["http://FA\u00df.de"],
      ["http://\u65e5\u672c\u8a9e\u3002\uff4a\uff50"],
      ["http://\u{1f600}.com"],
      ["http://xn--bcher-kva.example"],
      ["http://a\u00adb.com"],
      ["foo://H%41/x"],
      ["foo://a b"],
      ["http://user@/x"],
      ["http://a@b@c:81"],
      ["http://host:65536"],
      ["http://host:"]
    ]),
    "relative references of RFC 3986": partsOf(
      "g:h g ./g g/ /g //g ?y g?y #s g#s g?y#s ;x g;x g;x?y#s . ./ .. ../ ../g ../.. ../../ ../../g ../../../g /./g /../g g. .g g.. ..g ./../g ./g/. g/./h g/../h g;x=1/./y http:g"
        .split(" ")
        .map((input) => [input, "http://a/b/c/d;p?q"])
    )
  })
})

describe("URL objects", () => {
  sameAsNode({
    "setters ignore invalid values": `
      const attempts = [["protocol", "ftp"], ["protocol", "mailto"], ["protocol", "http:x"], ["host", "x:99"], ["host", "x:y"],
        ["host", ""], ["hostname", "a:1"], ["hostname", "[::2]"], ["port", "8080abc"], ["port", "99999"], ["port", ""],
        ["port", "443"], ["username", "a b@"], ["password", "p/w"], ["pathname", "a b?c#d"], ["pathname", ""],
        ["search", "a=b c'"], ["search", "?"], ["search", ""], ["hash", "x y"], ["hash", ""], ["href", "mailto:a"]]
      return ["https://u:p@h:81/p?q#f", "file:///a/b", "foo://h/p", "foo:opaque x ?q#h", "web+demo:/.//not-a-host/"].map((start) =>
        attempts.map(([name, value]) => {
          const url = new URL(start)
          url[name] = value
          return url.href
        }))`,
    "an invalid href throws": `
      const url = new URL("http://a")
      try { url.href = "nope" } catch (error) { return [error.name, error.code, url.href] }`,
    "canParse, parse, toJSON, tags": `
      return [URL.canParse("x:y"), URL.canParse("x"), URL.canParse("x", "http://a"), URL.parse("nope"), URL.parse("/b", "http://a").href,
        JSON.stringify({ url: new URL("http://a") }), String(new URL("http://a")), Object.prototype.toString.call(new URL("http://a")), URL.name]`,
    "searchParams and search stay in sync": `
      const url = new URL("http://a/?x=1&y=2&x=3")
      const { searchParams } = url
      searchParams.append("z", "\u00e9 &=+")
      searchParams.delete("y")
      const first = url.href
      url.search = "?q=%20%2B+"
      const second = [...searchParams]
      searchParams.delete("q")
      return [first, second, url.href, url.searchParams === searchParams, (url.href = "http://b/?n", [...searchParams])]`
  })
})

describe("URL parsing", () => {
  it("agrees with Node on random URLs, bases and assignments", async () => {
    const guest = await Guest.start()
    const piece = fc.constantFrom(
      ..."http: https: file: ftp: mailto: foo: blob: // / \\ ? # @ : . .. %2e %41 %zz C: c| localhost 127.0.0.1 0x7f 256 [::1] [ ] 80 443 99999 a b".split(
        " "
      ),
      ..." \t\n\u00e9\u00df\u2603\u00fc'\"<>^`{}|%*=;,$!~(+&".split(""),
      "\u{1f600}",
      "\ud800",
      "user",
      "x=1",
      "EXAMPLE.com."
    )
    const text = fc.array(piece, { minLength: 1, maxLength: 7 }).map((pieces) => pieces.join(""))
    const base = fc.constantFrom(
      null,
      "http://h/a/b?c#d",
      "file:///C:/a/b",
      "foo:opaque",
      "foo://h/p/q",
      "file://srv/x"
    )
    const part = fc.constantFrom(
      "protocol",
      "username",
      "password",
      "host",
      "hostname",
      "port",
      "pathname",
      "search",
      "hash"
    )
    const cases = fc.sample(fc.tuple(text, base, part, text), { numRuns: 3000, seed: 20 })
    const code = `
      const dump = (url) => ${parts}.map((part) => url[part])
      return ${JSON.stringify(cases)}.map(([input, base, part, value]) => {
        try {
          const url = new URL(input, base ?? undefined)
          const before = dump(url)
          url[part] = value
          return [input, base, part, value, before, dump(url)]
        } catch (error) {
          return [input, base, error.name]
        }
      })`
    const expected = await oracle(code)
    assert.isArray(expected)
    assert.deepStrictEqual(await guest.run(code), expected)
  })

  it("rejects labels that look like punycode but are not", async () => {
    const guest = await Guest.start()
    const code = `return ["xn--", "xn--a", "xn--abc-", "xn--zzzzzzz99999"].map((label) => URL.canParse("http://" + label + ".com"))`
    assert.deepStrictEqual(await guest.run(code), [false, false, false, false])
  })

  it("does not quote invalid input in errors", async () => {
    const guest = await Guest.start()
    const message = await guest.run(
      `try { new URL("secret:token@", "also secret") } catch (error) { return error.message }`
    )
    assert.strictEqual(message, "Invalid URL")
  })
})

describe("URLSearchParams", () => {
  sameAsNode({
    "is made of strings, pairs, records and parameters": `
      const made = [undefined, "", "?a=1&b", "a=%zz&=x&&+=%2B", [["a", "b"], ["a", "c"]], { x: 1, y: "\u00e9" }, new URLSearchParams("p=q")]
      return made.map((init) => [...new URLSearchParams(init)])`,
    "rejects invalid pairs": `return new URLSearchParams([["a"]]).toString()`,
    "gets, sets, deletes, sorts": `
      const params = new URLSearchParams("b=2&a=1&b=3&\u00e9=4&b=2")
      const seen = [params.get("b"), params.get("none"), params.getAll("b"), params.has("b", "3"), params.has("b", "9"), params.size]
      params.delete("b", "2")
      params.set("a", "new")
      params.append("\ud800", "~!*'()")
      const sorted = new URLSearchParams("z=1&a=2&z=0&a=1")
      sorted.sort()
      return [...seen, String(params), String(sorted), [...params.keys()], [...params.values()]]`,
    "iterates over the current list at each step": `
      const params = new URLSearchParams("a=1&b=2&c=3")
      const seen = []
      for (const [name] of params) { seen.push(name); if (name === "a") params.delete("b") }
      params.forEach((value, name, self) => seen.push(value, name, self === params))
      return seen`
  })
})
