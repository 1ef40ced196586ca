import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { parseRange } from "../../src/files/ByteRanges.ts"
import { attachment } from "../../src/files/Disposition.ts"

describe("parseRange", () => {
  it("never leaves the file, whatever is asked for", () => {
    const ends = fc.oneof(fc.nat().map(String), fc.constant(""), fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String))
    fc.assert(
      fc.property(ends, ends, fc.nat({ max: 2000 }), (first, last, size) => {
        const asked = parseRange(`bytes=${first}-${last}`, size)
        if (asked._tag !== "Part") return
        const { start, end } = asked.range
        assert.isTrue(0 <= start && start < end && end <= size)
      })
    )
  })

  it("finds exactly the bytes that the range names", () => {
    fc.assert(
      fc.property(fc.nat({ max: 50 }), fc.nat({ max: 50 }), fc.integer({ min: 1, max: 40 }), (first, last, size) => {
        const wanted = Array.from({ length: size }, (_, index) => index).filter((at) => first <= at && at <= last)
        const asked = parseRange(`bytes=${first}-${last}`, size)
        const expected = last < first ? "Whole" : wanted.length === 0 ? "Unsatisfiable" : "Part"
        assert.strictEqual(asked._tag, expected)
        if (asked._tag === "Part") {
          assert.deepStrictEqual(asked.range, { start: wanted[0] ?? 0, end: (wanted.at(-1) ?? 0) + 1 })
        }
      })
    )
  })

  it("takes any other text for no range", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const isRange = /^bytes=[ \t]*(\d+-\d*|-\d+)[ \t]*$/i.test(text)
        if (!isRange) assert.strictEqual(parseRange(text, 100)._tag, "Whole")
      })
    )
  })
})

describe("attachment", () => {
  it("stays one header value of ASCII from which the name comes back", () => {
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
