import { assert, describe, it } from "@effect/vitest"
import { isUuid, makeUuidV7 } from "@weft/core/adapter"
import * as fc from "fast-check"

const bytes = (value: number) => (count: number) => new Uint8Array(count).fill(value)
const secure = (count: number) => crypto.getRandomValues(new Uint8Array(count))
const readMillisecond = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

describe("makeUuidV7", () => {
  it("encodes version, variant and millisecond", () => {
    const id = makeUuidV7(() => 1_700_000_000_123, secure)()
    assert.isTrue(isUuid(id))
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.strictEqual(readMillisecond(id), 1_700_000_000_123)
  })

  it("generates unique ascending ids for any clock", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 41 }), { minLength: 2, maxLength: 200 }), (instants) => {
        let at = 0
        const next = makeUuidV7(() => instants[at++ % instants.length] ?? 0, secure)
        const ids = instants.flatMap(() => [next(), next()])
        assert.deepStrictEqual(ids, [...new Set(ids)].sort())
      })
    )
  })

  it("generates ascending ids from the largest initial counter", () => {
    const next = makeUuidV7(() => 5, bytes(255))
    const ids = Array.from({ length: 1000 }, next)
    assert.deepStrictEqual(ids, [...new Set(ids)].sort())
  })

  it("keeps the last 32 bits random across several blocks of randomness", () => {
    const next = makeUuidV7(() => 5, secure)
    const tails = Array.from({ length: 5000 }, () => next().slice(-8))
    assert.isAbove(new Set(tails).size, 4990)
  })
})
