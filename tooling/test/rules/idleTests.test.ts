import { describe, expect, it } from "vitest"
import { idleTests } from "../../src/rules/idleTests.ts"
import { findingsOf } from "../fixture.ts"

const file = "packages/core/test/a.test.ts"

describe("idle tests", () => {
  it.each([
    ["it.skip", "skip"],
    ["describe.only", "only"],
    ["test.todo", "todo"],
    ["it.effect.skip", "skip"],
    ["it.each([1]).skip", "skip"],
    ["describe.skipIf(true)", "skipIf"]
  ])("refuses a bare %s", (call, word) => {
    expect(findingsOf(idleTests, { [file]: `\n${call}("a", () => {})` })).toEqual([
      `${file}:2 idle-test .${word} without a comment on the line above that says why`
    ])
  })

  it("accepts one with its reason above", () => {
    expect(findingsOf(idleTests, { [file]: `// Needs a kernel with io_uring.\nit.skip("a", () => {})` })).toEqual([])
  })

  it("leaves other members of those names alone", () => {
    expect(findingsOf(idleTests, { [file]: "rows.skip(2)", "packages/core/src/a.ts": "it.skip()" })).toEqual([])
  })
})
