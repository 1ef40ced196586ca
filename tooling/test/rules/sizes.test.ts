import { describe, expect, it } from "vitest"
import { sizes } from "../../src/rules/sizes.ts"
import { findingsOf } from "../fixture.ts"

const lines = (count: number, line = "  step()"): string => Array.from({ length: count }, () => line).join("\n")

describe("sizes", () => {
  it("allows 400 lines in a file and refuses one more", () => {
    expect(findingsOf(sizes, { "src/a.ts": `${lines(400, "1")}\n` })).toEqual([])
    expect(findingsOf(sizes, { "src/a.ts": `${lines(401, "1")}\n` })).toEqual([
      "src/a.ts:401 file-size has 401 lines, more than 400"
    ])
  })

  it.each([
    ["a declaration", "function f() {", "}"],
    ["an arrow", "const f = () => {", "}"],
    ["a generator in a call", "gen(function* () {", "})"],
    ["a method", "const o = { f() {", "} }"]
  ])("allows 70 lines in %s and refuses one more", (_, head, tail) => {
    expect(findingsOf(sizes, { "src/a.ts": `${head}\n${lines(68)}\n${tail}` })).toEqual([])
    expect(findingsOf(sizes, { "src/a.ts": `\n${head}\n${lines(69)}\n${tail}` })).toEqual([
      "src/a.ts:2 function-size a function has 71 lines of its own, more than 70"
    ])
  })

  it("counts a nested function on its own, and its first and last line for its owner", () => {
    const nested = (count: number) => `const g = () => {\n${lines(count)}\n}`
    expect(findingsOf(sizes, { "src/a.ts": `const f = () => {\n${nested(60)}\n${nested(60)}\n}` })).toEqual([])
    expect(findingsOf(sizes, { "src/a.ts": `const f = () => {\n${nested(60)}\n${lines(67)}\n}` })).toEqual([
      "src/a.ts:1 function-size a function has 71 lines of its own, more than 70"
    ])
    expect(findingsOf(sizes, { "src/a.ts": `const f = () => {\n${nested(69)}\n}` })).toEqual([
      "src/a.ts:2 function-size a function has 71 lines of its own, more than 70"
    ])
  })
})
