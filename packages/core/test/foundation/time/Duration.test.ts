import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import fc from "fast-check"
import { parseDuration } from "../../../src/foundation/time/Duration.ts"

describe("parseDuration", () => {
  it.each([
    ["500ms", 500],
    ["1s", 1000],
    ["1m", 60_000],
    ["1h", 3_600_000],
    ["1d", 86_400_000],
    ["1.5s", 1500],
    ["0s", 0],
    [250, 250],
    [0, 0],
    ["PT1S", 1000],
    ["PT0.5S", 500],
    ["PT1H30M", 5_400_000],
    ["P1D", 86_400_000],
    ["P1DT1H", 90_000_000],
    ["P1W", 604_800_000],
    ["P1M", 2_592_000_000],
    ["PT1M", 60_000],
    ["P1Y", 31_536_000_000]
  ])("reads %j as %d ms", (input, expected) => {
    assert.strictEqual(parseDuration(input), expected)
  })

  it.each([
    [""],
    ["1"],
    ["s"],
    ["1 s"],
    ["-1s"],
    ["1S"],
    ["1w"],
    [".5s"],
    ["1s1m"],
    ["P"],
    ["PT"],
    ["P1DT"],
    ["P1S"],
    ["PT1D"],
    ["-PT1S"],
    ["p1d"],
    ["1e3s"],
    ["99999999999999999999d"],
    [-1],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [null],
    [undefined],
    [true],
    [[]],
    [{}],
    [{ ms: 1 }]
  ])("refuses %j", (input) => {
    assert.isNull(parseDuration(input))
  })

  it("agrees with itself across units", () => {
    fc.assert(
      fc.property(fc.nat(100_000), (minutes) => {
        const expected = Duration.toMillis(Duration.minutes(minutes))
        assert.strictEqual(parseDuration(`${minutes}m`), expected)
        assert.strictEqual(parseDuration(`PT${minutes}M`), expected)
        assert.strictEqual(parseDuration(`${expected}ms`), expected)
        assert.strictEqual(parseDuration(expected), expected)
      })
    )
  })
})
