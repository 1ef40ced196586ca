import { assert, describe, it } from "@effect/vitest"
import { matchUri, readVariables } from "../../../src/resources/builds/UriTemplate.ts"

describe("a URI template", () => {
  it("has the names of its variables, with text between them", () => {
    assert.deepStrictEqual(readVariables("a://b"), [])
    assert.deepStrictEqual(readVariables("a://{b}/c/{d_1}"), ["b", "d_1"])
    for (const wrong of ["a://{b}{c}", "a://{b}/{b}", "a://{", "a://}", "a://{}", "a://{1}", "{a}", "a://{b/{c}", ""]) {
      assert.isNull(readVariables(wrong), wrong)
    }
    assert.isNull(readVariables(Array.from({ length: 17 }, (_, index) => `a{v${index}}`).join("/")))
  })

  it.each([
    ["a://b", "a://b", {}],
    ["a://b", "a://bc", null],
    ["a://{b}", "a://", null],
    ["a://{b}", "a://x", { b: "x" }],
    ["a://{b}", "a://x%2Fy", { b: "x/y" }],
    ["a://{b}", "a://%zz", null],
    ["a://{b}/c", "a://x/c", { b: "x" }],
    ["a://{b}/c", "a://x/y/c", null],
    ["a://{b}/c", "a://x/cc", null],
    ["a://{b}-{c}", "a://1-2-3", { b: "1", c: "2-3" }],
    ["a://{b}-{c}", "a://--", null],
    ["a://{b}?q={c}", "a://x?q=%20", { b: "x", c: " " }],
    ["a://{__proto__}", "a://x", { ["__proto__"]: "x" }]
  ])("%s matches %s as %o", (template, uri, expected) => {
    assert.deepStrictEqual(matchUri(template, uri), expected)
  })

  it("takes linear time for hostile templates and URIs", () => {
    const template = `a://${Array.from({ length: 16 }, (_, index) => `{v${index}}`).join("-")}x`
    const began = performance.now()
    for (let count = 0; count < 1000; count++) assert.isNull(matchUri(template, `a://${"-".repeat(1000)}y`))
    assert.isBelow(performance.now() - began, 5000)
  })
})
