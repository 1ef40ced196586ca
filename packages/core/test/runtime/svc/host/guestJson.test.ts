/** Parsing of guests' JSON before schemas and functions of the host receive it. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { readGuestJson } from "../../../../src/runtime/svc/host/GuestJson.ts"

const read = (text: string) =>
  Effect.runSync(
    Effect.match(readGuestJson(text), {
      onFailure: ({ reason }): unknown => ({ refused: reason }),
      onSuccess: (value) => ({ value })
    })
  )

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

const namesPrototype = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (Object.keys(value).includes("__proto__") || Object.values(value).some(namesPrototype))

/** Strings that contain brackets, quotes and escapes. */
const text = fc.string({ unit: fc.constantFrom("[", "{", '"', "\\", "]", "}", "a", "é", "\u0000", "__proto__") })

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.oneof(text, fc.integer(), fc.constant(null), fc.boolean()),
    fc.array(tie("value"), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.oneof(text, fc.constantFrom("__proto__", "a")), tie("value")), { maxLength: 4 })
      .map((entries) => {
        const object: Record<string, unknown> = {}
        for (const [name, value] of entries) {
          Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
        }
        return object
      })
  )
})).value

it("parses JSON unless it is too deep or would change prototypes", () => {
  fc.assert(
    fc.property(json, fc.integer({ min: 0, max: 70 }), (inner, levels) => {
      const source = `${'[{"a":'.repeat(levels / 2)}${JSON.stringify(inner)}${"}]".repeat(levels / 2)}`
      const value: unknown = JSON.parse(source)
      const expected =
        depthOf(value) > 64
          ? { refused: "the input is nested deeper than 64 levels" }
          : namesPrototype(value)
            ? { refused: "no object of the input may have the name __proto__" }
            : { value }
      assert.deepStrictEqual(read(source), expected)
    })
  )
})

it("rejects invalid JSON", () => {
  fc.assert(
    fc.property(text, (source) => {
      fc.pre(source !== "")
      const found = read(source)
      try {
        const value: unknown = JSON.parse(source)
        assert.deepStrictEqual(found, { value })
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error
        assert.property(found, "refused")
      }
    })
  )
})

it("returns undefined for an empty text", () => assert.deepStrictEqual(read(""), { value: undefined }))
