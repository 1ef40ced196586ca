import { assert, describe, it } from "@effect/vitest"
import { Strikes } from "../src/supervisor/Strikes.ts"

describe("strikes", () => {
  it("give a build a runner of its own, then put it under quarantine, until it is pardoned", () => {
    const strikes = new Strikes(2)
    assert.strictEqual(strikes.custody("a", 0), "shared")
    strikes.strike("a")
    assert.strictEqual(strikes.custody("a", 0), "solo")
    strikes.acquit("a")
    assert.strictEqual(strikes.custody("a", 0), "solo")
    strikes.strike("a")
    assert.strictEqual(strikes.custody("a", 0), "quarantined")
    assert.strictEqual(strikes.custody("b", 0), "shared")
    strikes.pardon("a")
    assert.strictEqual(strikes.custody("a", 0), "shared")
  })

  it("fall on the only suspect; several are kept apart until one is proven", () => {
    const strikes = new Strikes(2)
    strikes.suspect(new Set(["a"]))
    assert.strictEqual(strikes.custody("a", 0), "solo")
    strikes.suspect(new Set(["b", "c"]))
    assert.strictEqual(strikes.custody("b", 0), "penal")
    strikes.acquit("b")
    assert.strictEqual(strikes.custody("b", 0), "shared")
    strikes.suspect(new Set(["c", "d"]))
    assert.strictEqual(strikes.custody("c", 0), "solo")
    assert.strictEqual(strikes.custody("d", 0), "penal")
  })

  it("keep builds that compute too long out of the way for a minute", () => {
    const strikes = new Strikes(2)
    strikes.overrun("a", 0)
    assert.strictEqual(strikes.custody("a", 1), "shared")
    strikes.overrun("a", 1000)
    assert.strictEqual(strikes.custody("a", 2000), "penal")
    assert.strictEqual(strikes.custody("a", 61_001), "shared")
    strikes.overrun("a", 200_000)
    assert.strictEqual(strikes.custody("a", 200_001), "shared")
  })
})
