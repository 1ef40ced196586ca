import { assert, describe, it } from "@effect/vitest"
import { Timestamp } from "@weft/core/adapter"
import fc from "fast-check"
import { backOffMs, renewAt } from "../../../src/resources/domains/DomainProgress.ts"
import { day, hour, minute } from "./SimulatedNetwork.ts"

describe("the state transitions of a domain", () => {
  it("repeat checks after 1, 2, 4, … minutes, at most an hour", () => {
    assert.deepStrictEqual(
      [0, 1, 2, 3, 4, 5, 6, 7, 1e9].map(backOffMs),
      [1, 2, 4, 8, 16, 32, 60, 60, 60].map((n) => n * minute)
    )
  })

  it("renew a certificate 30 days before its expiry, or in the last third of a shorter lifetime", () => {
    const issued = Timestamp.make(1_750_000_000_000)
    const renewed = (lifeMs: number) => renewAt(issued, Timestamp.make(issued + lifeMs)) - issued
    assert.strictEqual(renewed(90 * day), 60 * day)
    assert.strictEqual(renewed(365 * day), 335 * day)
    assert.strictEqual(renewed(45 * day), 30 * day)
    assert.strictEqual(renewed(6 * hour), 4 * hour)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 * day }), (lifeMs) => {
        assert.isAtLeast(renewed(lifeMs), Math.floor((lifeMs * 2) / 3))
        assert.isAtMost(renewed(lifeMs), lifeMs)
        assert.isAtMost(lifeMs - renewed(lifeMs), 30 * day)
      })
    )
  })
})
