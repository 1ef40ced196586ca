import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { RunId } from "../../../src/foundation/Ids.ts"
import { findDifference } from "../../../src/runtime/runs/JsonDifference.ts"
import { isRecorded } from "../../../src/runtime/runs/Recording.ts"
import { makeRedaction } from "../../../src/runtime/runs/Redaction.ts"

const secrets = new Map([
  ["sk live/1", "weft-secret-KEY"],
  ["other-value", "weft-secret-OTHER"]
])
const redaction = makeRedaction({ redact: ["password", "card.number"], secrets, context: ["REGION"] })
const base64 = (text: string) => Buffer.from(text).toString("base64")

describe("a redaction", () => {
  it("replaces fields by name and by the end of their path, in any case and depth", () => {
    const given = { Password: "a", card: { number: 4111, name: "b" }, items: [{ card: [{ number: true }] }], number: 1 }
    assert.deepStrictEqual(JSON.parse(redaction.json(JSON.stringify(given)) ?? ""), {
      Password: "weft-redacted",
      card: { number: 0, name: "b" },
      items: [{ card: [{ number: false }] }],
      number: 1
    })
  })

  it("replaces credentials in headers, and secrets in texts, URLs and bodies", () => {
    const payload = {
      id: 7,
      url: "https://a.example/?key=sk%20live%2F1",
      headers: [
        ["Authorization", "Bearer x"],
        ["x-key", "sk live/1"]
      ],
      body: { bytes: base64('{"key":"sk live/1","password":"p"}') }
    }
    const args = redaction.args({ op: "fetch.send", payload: JSON.stringify(payload) })
    assert.deepStrictEqual(JSON.parse(args ?? ""), {
      id: 1,
      url: "https://a.example/?key=weft-secret-KEY",
      headers: [
        ["Authorization", "weft-redacted"],
        ["x-key", "weft-secret-KEY"]
      ],
      body: { bytes: base64('{"key":"weft-secret-KEY","password":"weft-redacted"}') }
    })
  })

  it("numbers the resources of a run in the order of their first use", () => {
    const { args } = makeRedaction({ redact: [], secrets: new Map(), context: [] })
    const read = (id: number) => args({ op: "fetch.read", payload: `{"id":${id}}` })
    assert.deepStrictEqual([read(41), read(17), read(41)], ['{"id":1}', '{"id":2}', '{"id":1}'])
    assert.strictEqual(args({ op: "schedules.cancel", payload: '{"id":41}' }), '{"id":41}')
  })

  it("replaces the values of context variables, but not of those that are named", () => {
    const get = (key: string, answer: string) =>
      redaction.answer({ op: "context.get", payload: JSON.stringify({ key }) }, answer)
    assert.strictEqual(get("KEY.x", '"a"'), '"weft-secret-KEY_x"')
    assert.strictEqual(get("REGION", '"eu"'), '"eu"')
    assert.strictEqual(get("KEY", "null"), "null")
    const all = redaction.answer({ op: "context.all", payload: "{}" }, '{"KEY":"a","REGION":"eu"}')
    assert.strictEqual(all, '{"KEY":"weft-secret-KEY","REGION":"eu"}')
  })

  it("replaces fields of forms, and leaves other bodies as they are", () => {
    assert.deepStrictEqual(redaction.body({ text: "a=1&password=p&b=other-value", as: "form" }), {
      text: "a=1&password=weft-redacted&b=weft-secret-OTHER",
      as: "form"
    })
    assert.deepStrictEqual(redaction.body({ text: '{ "a": 1 }', as: "json" }), { text: '{ "a": 1 }', as: "json" })
  })

  it("never fails, and never keeps a secret in a JSON value, whatever a guest sends", () => {
    const op = fc.constantFrom("fetch.send", "fetch.read", "host.a", "workflow.step", "context.get", "context.all", "a")
    const text = fc.oneof(
      fc.json(),
      fc.string(),
      fc.json().map((json) => `{"ok":true}\n${json}`)
    )
    fc.assert(
      fc.property(op, text, text, fc.string(), (name, payload, answer, around) => {
        const secretive = makeRedaction({ redact: ["a"], secrets, context: [] })
        secretive.args({ op: name, payload })
        secretive.answer({ op: name, payload }, answer)
        secretive.body({ text: payload, as: "form" })
        const kept = secretive.json(JSON.stringify({ around: [`${around}other-value`], [`other-value${around}`]: 1 }))
        assert.notInclude(kept ?? "", "other-value")
      })
    )
  })

  it("returns null for JSON that is too deep, or none", () => {
    assert.isNull(redaction.json("[".repeat(1000) + "]".repeat(1000)))
    assert.isNull(redaction.json("{"))
  })
})

describe("findDifference", () => {
  it("returns the path of the first difference, and ignores the order of names", () => {
    assert.isNull(findDifference({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 }))
    assert.deepStrictEqual(findDifference({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }), {
      path: "a[1].b",
      recorded: 2,
      replayed: 3
    })
    assert.deepStrictEqual(findDifference([1], [1, 2]), { path: "[1]", recorded: undefined, replayed: 2 })
    assert.deepStrictEqual(findDifference({ a: null }, {}), { path: "a", recorded: null, replayed: undefined })
  })
})

describe("isRecorded", () => {
  it("is true for the share of runs, by the end of their ids", () => {
    const run = (end: string) => RunId.make(`01890000-0000-7000-8000-0000${end}`)
    assert.isTrue(isRecorded(run("ffffffff"), 1))
    assert.isTrue(isRecorded(run("3fffffff"), 0.25))
    assert.isFalse(isRecorded(run("40000000"), 0.25))
  })
})
