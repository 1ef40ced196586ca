import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { JsonText } from "../../../src/foundation/JsonText.ts"
import { makeMask, maskedLengthMin } from "../../../src/resources/secrets/Mask.ts"

const inText = (text: string, ...values: ReadonlyArray<string>) => makeMask(values).text(text)

const inJson = (value: unknown, ...values: ReadonlyArray<string>): unknown =>
  JSON.parse(makeMask(values).json(JsonText.make(JSON.stringify(value))))

describe("a mask on text", () => {
  it("hides every occurrence of a value, and nothing else", () => {
    assert.strictEqual(inText("key=s3cr3t-1, again s3cr3t-1s3cr3t-1.", "s3cr3t-1"), "key=***, again ******.")
    assert.strictEqual(inText("key=s3cr3t-2", "s3cr3t-1"), "key=s3cr3t-2")
    assert.strictEqual(inText("", "s3cr3t-1"), "")
  })

  it("hides a value in JSON, also within JSON", () => {
    const value = 'line "one"\nline\ttwo \\ end'
    const once = JSON.stringify({ value })
    assert.strictEqual(inText(value, value), "***")
    assert.strictEqual(inText(once, value), '{"value":"***"}')
    assert.strictEqual(inText(JSON.stringify({ once }), value), '{"once":"{\\"value\\":\\"***\\"}"}')
  })

  it("hides a value in console output", () => {
    for (const value of ["a\nb\\c d", `it's "both"\n`, `it's one\\`, '"one"\t\\', '`it\'s all "three"`\n']) {
      const text = inspect({ value: [value] })
      assert.match(inText(text, value), /^\{ value: \[ (['"`])\*\*\*(\\n)?\1 \] \}$/, text)
    }
  })

  it("hides a value without its surrounding white space", () => {
    assert.strictEqual(inText("got s3cr3t-1.", "  s3cr3t-1\n"), "got ***.")
  })

  it("does not hide short values", () => {
    assert.strictEqual(inText("12345 123456", "12345", "    5    "), "12345 123456")
    assert.strictEqual(inText("12345 123456", "123456"), "12345 ***")
    assert.strictEqual(maskedLengthMin, 6)
  })

  it("hides the longer of two values first", () => {
    assert.strictEqual(inText("secret-and-more", "secret", "secret-and-more"), "***")
  })

  it("finds overlapping values", () => {
    assert.strictEqual(inText("aabaabaabaacaab", "aabaabaac"), "aab***aab")
    assert.strictEqual(inText("abababababc", "ababab"), "***ababc")
  })

  it("replaces what String.replaceAll would replace", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 6, maxLength: 12 })
    const text = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 300 })
    fc.assert(
      fc.property(word, text, (value, text) => assert.strictEqual(inText(text, value), text.replaceAll(value, "***"))),
      { numRuns: 2000 }
    )
  })

  it("hides every value in any text", () => {
    const value = fc.string({ unit: "grapheme", minLength: 6, maxLength: 40 }).filter((it) => !/^[*\s]|[*\s]$/.test(it))
    fc.assert(
      fc.property(value, fc.string(), fc.string(), (value, before, after) => {
        const mask = makeMask([value])
        assert.notInclude(mask.text(before + value + after).replaceAll("***", ""), value)
        assert.notInclude(mask.text(JSON.stringify(before + value + after)), JSON.stringify(value).slice(1, -1))
        const json = mask.json(JsonText.make(JSON.stringify({ [before]: [{ [value]: before + value + after }] })))
        assert.notInclude(JSON.stringify(Object.values(JSON.parse(json))), JSON.stringify(value).slice(1, -1))
      }),
      { numRuns: 1000 }
    )
  })
})

describe("a mask on JSON", () => {
  it("hides values in strings, names and numbers at any position", () => {
    assert.deepStrictEqual(
      inJson(
        { a: ["s3cr3t-1", { "s3cr3t-1": "x s3cr3t-1" }], n: 1234567, m: [1234, null, true] },
        "s3cr3t-1",
        "1234567"
      ),
      { a: ["***", { "***": "x ***" }], n: "***", m: [1234, null, true] }
    )
  })

  it("returns valid JSON for a value that looks like part of an escape", () => {
    assert.deepStrictEqual(inJson({ a: "\n123456" }, "n123456"), { a: "\n123456" })
    assert.deepStrictEqual(inJson({ a: "\\" + "s3cr3t-1" }, "s3cr3t-1"), { a: "\\***" })
  })

  it("keeps an own property named __proto__", () => {
    const masked = makeMask(["s3cr3t-1"]).json(JsonText.make('{"__proto__":{"a":"s3cr3t-1"}}'))
    assert.strictEqual(masked, '{"__proto__":{"a":"***"}}')
  })

  it("hides values that are nested too deeply", () => {
    const deep = `${"[".repeat(100_000)}"s3cr3t-1"${"]".repeat(100_000)}`
    const masked = makeMask(["s3cr3t-1"]).json(JsonText.make(deep))
    assert.notInclude(masked, "s3cr3t-1")
    assert.include(masked, '["***"]')
  })
})

describe("a mask with hostile input", () => {
  it("hides whole texts after its limit", () => {
    const values = Array.from({ length: 1000 }, (_, n) => `s3cr3t-${n}-`)
    const mask = makeMask(values)
    assert.strictEqual(mask.text("harmless"), "harmless")
    assert.strictEqual(mask.text("x".repeat(40_000)), "***")
    assert.strictEqual(mask.text("harmless"), "***")
    assert.strictEqual(mask.json(JsonText.make('{"a":1}')), '"***"')
  })

  it("takes linear time for any value", () => {
    // The engine's own search takes most of a minute for the first.
    for (const value of [
      `${"a".repeat(32_000)}b${"a".repeat(32_000)}`,
      `${"a".repeat(64_000)}b`,
      `b${"a".repeat(64_000)}`
    ]) {
      assert.strictEqual(inText("a".repeat(1_000_000), value), "a".repeat(1_000_000))
    }
  })
})
