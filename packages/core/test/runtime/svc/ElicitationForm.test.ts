import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ElicitationForm, findFormFault } from "../../../src/runtime/svc/ElicitationForm.ts"

const decode = Schema.decodeUnknownSync(ElicitationForm)

const form = decode({
  type: "object",
  properties: {
    name: { type: "string", minLength: 2, maxLength: 4, pattern: "^(a+)+$" },
    plan: { type: "string", enum: ["free", "paid"], enumNames: ["Free", "Paid"] },
    color: { type: "string", oneOf: [{ const: "r", title: "Red" }] },
    age: { type: "integer", minimum: 0 },
    sure: { type: "boolean" },
    tags: { type: "array", maxItems: 2, items: { type: "string", enum: ["a", "b", "c"] } },
    sizes: { type: "array", items: { anyOf: [{ const: "s", title: "Small" }] } }
  },
  required: ["name"]
})

describe("a form", () => {
  it("drops keywords that the protocol does not define", () => {
    assert.notInclude(JSON.stringify(form), "pattern")
  })

  it("has at most 64 fields of primitive types", () => {
    const properties = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`f${index}`, { type: "boolean" }]))
    assert.throws(() => decode({ type: "object", properties }), /at most 64 fields/)
    assert.throws(() => decode({ type: "object", properties: { a: { type: "object" } } }))
  })

  it.each([
    [{ name: "ab" }, null],
    [{ name: "ab", plan: "paid", color: "r", age: 3, sure: true, tags: ["a", "c"], sizes: ["s"] }, null],
    [{}, '"name" is missing'],
    [{ name: "a" }, '"name" does not match its field'],
    [{ name: "abcde" }, '"name" does not match its field'],
    [{ name: 1 }, '"name" does not match its field'],
    [{ name: "ab", plan: "none" }, '"plan" does not match its field'],
    [{ name: "ab", color: "Red" }, '"color" does not match its field'],
    [{ name: "ab", age: 1.5 }, '"age" does not match its field'],
    [{ name: "ab", age: -1 }, '"age" does not match its field'],
    [{ name: "ab", sure: "true" }, '"sure" does not match its field'],
    [{ name: "ab", tags: ["a", "b", "c"] }, '"tags" does not match its field'],
    [{ name: "ab", tags: ["d"] }, '"tags" does not match its field'],
    [{ name: "ab", sizes: ["m"] }, '"sizes" does not match its field'],
    [{ name: "ab", constructor: "x" }, '"constructor" is not a field of the form']
  ])("compares %o with its fields", (content, expected) => {
    assert.strictEqual(findFormFault(form, content), expected)
  })
})
