import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { findJsonFault } from "../../src/responses/JsonFault.ts"

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe("findJsonFault", () => {
  it("finds nothing in what JSON.parse takes, and something in what it refuses", () => {
    const alphabet = fc.constantFrom(...'{}[]:,"\\ntrue0.1e-+ \n\u0000fals/ué')
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string({ unit: alphabet, maxLength: 12 }), mutated), (text) => {
        assert.strictEqual(findJsonFault(text) === null, isJson(text))
      }),
      { numRuns: 5000 }
    )
  })

  it("names the first character that cannot be there", () => {
    assert.deepStrictEqual(findJsonFault('{"a": nope}'), { line: 1, column: 7 })
    assert.deepStrictEqual(findJsonFault('{\n  "a": 1,\n}'), { line: 3, column: 1 })
    assert.deepStrictEqual(findJsonFault("{} x"), { line: 1, column: 4 })
    assert.deepStrictEqual(findJsonFault('{"a": [1, 2'), { line: 1, column: 12 })
    assert.deepStrictEqual(findJsonFault(""), { line: 1, column: 1 })
  })

  it("does not run out of stack", () => {
    assert.isNull(findJsonFault("[".repeat(200_000) + "]".repeat(200_000)))
  })
})

/** JSON with one character taken out, put in or exchanged. */
const mutated = fc
  .tuple(fc.json(), fc.nat(), fc.constantFrom("", "{", "}", "[", "]", ",", ":", '"', "0", "x", "\\"), fc.boolean())
  .map(([text, at, insert, removes]) => {
    const index = at % (text.length + 1)
    return text.slice(0, index) + insert + text.slice(index + (removes ? 1 : 0))
  })
