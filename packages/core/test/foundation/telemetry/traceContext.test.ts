import { assert, describe, it } from "@effect/vitest"
import { formatTraceparent, parseTraceparent } from "@weft/core/internal"
import fc from "fast-check"

const hex = (length: number) =>
  fc
    .array(fc.constantFrom(..."0123456789abcdef"), { minLength: length, maxLength: length })
    .map((digits) => digits.join(""))
    .filter((text) => /[^0]/.test(text))

const span = fc.record({ traceId: hex(32), spanId: hex(16), sampled: fc.boolean() })

describe("traceparent", () => {
  it("is unchanged after parsing and formatting", () => {
    fc.assert(
      fc.property(span, (given) => {
        const text = `00-${given.traceId}-${given.spanId}-${given.sampled ? "01" : "00"}`
        const read = parseTraceparent(text)
        assert.isNotNull(read)
        assert.include(read, given)
        assert.strictEqual(formatTraceparent(read), text)
      })
    )
  })

  it("of a later version is parsed by the fields of version 00", () => {
    const read = parseTraceparent("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03-what-comes-later")
    assert.isNotNull(read)
    assert.include(read, { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", sampled: true })
  })

  it.each([
    "",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
    "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
    "00-00000000000000000000000000000000-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
    "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n",
    "0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01"
  ])("%j is rejected", (text) => {
    assert.isNull(parseTraceparent(text))
  })

  it("that is random text is rejected", () => {
    fc.assert(fc.property(fc.string(), (text) => assert.isNull(parseTraceparent(text))))
  })

  it("pads ids of 64 bits from other formats to 128 bits", () => {
    const read = parseTraceparent(formatTraceparent(shortSpan))
    assert.strictEqual(read?.traceId, "0000000000000000b7ad6b7169203331")
  })
})

const known = parseTraceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
if (known === null) throw new Error("the example of the specification was not parsed")
const shortSpan = { ...known, traceId: "b7ad6b7169203331" }
