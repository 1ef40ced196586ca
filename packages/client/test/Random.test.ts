import { assert, describe, it } from "@effect/vitest"
import { randomFraction, randomUuid } from "../src/transport/Random.ts"

describe("random keys", () => {
  it("are distinct UUIDs of version 4", () => {
    const keys = Array.from({ length: 1000 }, randomUuid)
    for (const key of keys) assert.match(key, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.strictEqual(new Set(keys).size, keys.length)
  })

  it("and fractions are at least 0 and below 1", () => {
    for (let n = 0; n < 1000; n++) assert.isTrue(randomFraction() >= 0 && randomFraction() < 1)
  })
})
