import { describe, expect, it } from "vitest"
import { forbiddenCode } from "../../src/rules/forbiddenCode.ts"
import { findingsOf } from "../fixture.ts"

const src = "packages/core/src/runtime/runs/Run.ts"

describe("forbidden code", () => {
  it.each([
    ["const a: any = 1", "any switches the compiler off; use unknown and check"],
    ["const a = x as any", "any switches the compiler off; use unknown and check"],
    ["type A = Array<any>", "any switches the compiler off; use unknown and check"],
    ["const a = x as unknown as A", "a cast through unknown claims what nobody checked"],
    ["// @ts-ignore", "silences the compiler by a comment"],
    ["/* @ts-nocheck */", "silences the compiler by a comment"],
    ["// @ts-expect-error", "silences the compiler by a comment"],
    ["const a = Date.now()", "Date.now outside the edges: take the time from Clock"],
    ["const a = Math.random", "Math.random outside the edges: take randomness from effect/crypto"],
    ["const a = process.env.HOME", "process.env outside the edges: take settings as options"]
  ])("refuses %s", (code, message) => {
    expect(findingsOf(forbiddenCode, { [src]: code })).toEqual([`${src}:1 forbidden-code ${message}`])
  })

  it("reads code, not words", () => {
    const code = `const anyone = "as any; Date.now()" // any value, not @ts-ignore\nconst b = x as unknown`
    expect(findingsOf(forbiddenCode, { [src]: code })).toEqual([])
  })

  it("lets edges read the world, but nobody cast", () => {
    const code = "const a = Date.now() + Math.random()\nconst b = process.env.X as unknown as number"
    for (const edge of ["packages/core/test/a.test.ts", "bench/src/a.ts", "packages/sandbox/src/runner/a.ts"]) {
      expect(findingsOf(forbiddenCode, { [edge]: code })).toEqual([
        `${edge}:2 forbidden-code a cast through unknown claims what nobody checked`
      ])
    }
  })
})
