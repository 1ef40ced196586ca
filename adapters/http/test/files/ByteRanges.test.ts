import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { parseRange } from "../../src/files/ByteRanges.ts"
import { attachment } from "../../src/files/ContentDisposition.ts"

describe("parseRange", () => {
  it("never exceeds the file, for any header", () => {
    const ends = fc.oneof(fc.nat().map(String), fc.constant(""), fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String))
    fc.assert(
      fc.property(ends, ends, fc.nat({ max: 2000 }), (first, last, size) => {
        const parsed = parseRange(`bytes=${first}-${last}`, size)
        if (parsed._tag !== "Part") return
        const { start, end } = parsed.range
        assert.isTrue(0 <= start && start < end && end <= size)
      })
    )
  })

  it("returns exactly the bytes of the range", () => {
    fc.assert(
      fc.property(fc.nat({ max: 50 }), fc.nat({ max: 50 }), fc.integer({ min: 1, max: 40 }), (first, last, size) => {
        const wanted = Array.from({ length: size }, (_, index) => index).filter((at) => first <= at && at <= last)
        const parsed = parseRange(`bytes=${first}-${last}`, size)
        const expected = last < first ? "Whole" : wanted.length === 0 ? "Unsatisfiable" : "Part"
        assert.strictEqual(parsed._tag, expected)
        if (parsed._tag === "Part") {
          assert.deepStrictEqual(parsed.range, { start: wanted[0] ?? 0, end: (wanted.at(-1) ?? 0) + 1 })
        }
      })
    )
  })

  it("ignores any other text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const isRange = /^bytes=[ \t]*(\d+-\d*|-\d+)[ \t]*$/i.test(text)
        if (!isRange) assert.strictEqual(parseRange(text, 100)._tag, "Whole")
      })
    )
  })
})

describe("attachment", () => {
  it("is one ASCII header value from which the name can be decoded", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), (name) => {
        const header = attachment(name)
        assert.match(header, /^attachment; filename="[ !#-[\]-~]*"(; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]+)?$/)
        const [, encoded] = header.split("filename*=UTF-8''")
        if (encoded === undefined) assert.strictEqual(header, `attachment; filename="${name}"`)
        else assert.strictEqual(decodeURIComponent(encoded), name)
      })
    )
  })
})
