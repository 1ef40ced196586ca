import { assert, describe, it } from "@effect/vitest"
import { Result, type Schema } from "effect"
import { compileExpression } from "../../../src/resources/builds/Expression.ts"

const evaluate = (text: string, data: Schema.Json) =>
  Result.match(compileExpression(text, "any"), {
    onSuccess: (expression) => expression.evaluate({ id: "e", type: "order:paid", stream_id: "s", data }),
    onFailure: ({ reason }) => assert.fail(`${text}: ${reason}`)
  })

const valueOf = (text: string, data: Schema.Json = {}) =>
  Result.getOrElse(evaluate(text, data), (reason) => ({ reason }))

const faultOf = (text: string, wanted: "bool" | "any" = "any") =>
  Result.match(compileExpression(text, wanted), {
    onSuccess: () => null,
    onFailure: (fault) => fault
  })

const order = { total: 150, customer: "c1", tags: ["new", "big"], note: null, item: { price: 1.5 } }

describe("an expression", () => {
  it("reads the event and its data", () => {
    for (const [text, value] of [
      ["event.type", "order:paid"],
      ["event.data.total > 100", true],
      ["event.data.total == 150 && event.data.customer == 'c1'", true],
      ['"big" in event.data.tags', true],
      ["event.data.tags[1]", "big"],
      ["event.data.item.price * 2.0", 3],
      ["has(event.data.missing) && event.data.missing > 1", false],
      ["event.data.note == null", true],
      ["size(event.data.tags) == 2", true],
      ["event.data.customer.startsWith('c') ? 'big' : 'small'", "big"],
      ["string(event.data.total) + '-' + event.data.customer", "150-c1"]
    ] as const) {
      assert.deepStrictEqual(valueOf(text, order), value, text)
    }
  })

  it("has no value if a field is missing or types differ", () => {
    assert.deepStrictEqual(valueOf("event.data.missing > 1", order), { reason: "No such key: missing" })
    assert.deepStrictEqual(valueOf("event.data.customer > 1", order), {
      reason: "no such overload: dyn<string> > int"
    })
    assert.deepStrictEqual(valueOf("event.data.total > 1", null), { reason: "No such key: total" })
  })

  it("reaches nothing but its input", () => {
    for (const name of ["constructor", "toString", "__proto__"]) {
      assert.deepStrictEqual(valueOf(`event.data.${name}`, order), { reason: `No such key: ${name}` })
    }
  })

  it("is rejected with the position of its fault", () => {
    assert.deepStrictEqual(faultOf("event.data.total >"), { reason: "Unexpected token: EOF", position: 19 })
    assert.deepStrictEqual(faultOf("true && foo == 1"), { reason: "Unknown variable: foo", position: 9 })
    assert.deepStrictEqual(faultOf("1 + 'a'"), { reason: "no such overload: int + string", position: 1 })
    assert.deepStrictEqual(faultOf("event.data.total + 1", "bool"), {
      reason: "the value must be true or false (got int)",
      position: 1
    })
  })

  it("has neither loops nor regular expressions", () => {
    for (const text of [
      "event.data.tags.exists(tag, tag == 'a')",
      "event.data.tags.map(tag, tag + tag)",
      "event.data.customer.matches('(a+)+$')",
      "cel.bind(x, event.data.customer, x + x)",
      "event.data.customer.split('')"
    ]) {
      assert.include(faultOf(text)?.reason, "is not supported", text)
    }
    assert.include(faultOf("{'a': 1}")?.reason, "")
  })

  it("is limited in size and depth", () => {
    assert.isNotNull(faultOf(Array.from({ length: 300 }, () => "1").join(" + ")))
    assert.isNotNull(faultOf(`${"(".repeat(200)}1${")".repeat(200)}`))
    assert.isNotNull(faultOf(`${"!".repeat(300)}true`))
  })
})
