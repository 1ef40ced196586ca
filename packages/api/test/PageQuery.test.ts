import { assert, describe, it } from "@effect/vitest"
import { mayCover, pageQuery, toPageRequest } from "@weft/api"
import { Schema } from "effect"
import * as fc from "fast-check"

const query = Schema.Struct(pageQuery)
const accepts = (input: unknown): boolean => Schema.is(Schema.toEncoded(query))(input) && decodes(input)
const decodes = (input: unknown): boolean => Schema.decodeUnknownResult(query)(input)._tag === "Success"

describe("limit and offset", () => {
  it("are 20 and 0 by default", () => {
    assert.deepStrictEqual(toPageRequest({}), { limit: 20, offset: 0 })
  })

  it("accept exactly the integers of their range, written in digits", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1000, max: 1000 }), (n) => {
        assert.strictEqual(accepts({ limit: String(n) }), n >= 1 && n <= 100)
        assert.strictEqual(accepts({ offset: String(n) }), n >= 0)
      })
    )
    for (const text of ["", " 5", "5 ", "+5", "1e1", "0x10", "5.0", "05", "NaN", "Infinity"]) {
      assert.isFalse(accepts({ limit: text }), text)
    }
  })

  it("fail with the valid range in the message, without the value", () => {
    const result = Schema.decodeUnknownResult(query)({ limit: "secret" })
    assert.strictEqual(result._tag, "Failure")
    if (result._tag === "Failure") {
      assert.include(result.failure.message, "must be an integer from 1 to 100")
      assert.notInclude(result.failure.message, "secret")
    }
  })
})

describe("mayCover", () => {
  const id = "01890000-0000-7000-8000-000000000001"
  const other = "01890000-0000-7000-8000-000000000002"

  it("returns true for an id and a name, which may refer to the same project", () => {
    assert.isTrue(mayCover(["alpha"], id))
    assert.isTrue(mayCover([id], "alpha"))
  })

  it("compares two names or two ids", () => {
    assert.isFalse(mayCover(["alpha"], "beta"))
    assert.isFalse(mayCover([id], other))
    assert.isFalse(mayCover([], id))
    assert.isTrue(mayCover(["beta", "alpha"], "alpha"))
    assert.isTrue(mayCover("all", "alpha"))
  })
})
