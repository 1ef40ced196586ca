import { assert, describe, it } from "@effect/vitest"
import { InFlightMap } from "@weft/core/adapter"
import fc from "fast-check"

const key = fc.integer({ min: 0, max: 40 })
const step = fc.oneof(
  { weight: 20, arbitrary: fc.record({ set: key, value: fc.nat() }) },
  { weight: 12, arbitrary: fc.record({ delete: key }) },
  { weight: 1, arbitrary: fc.constant({ clear: true }) }
)

describe("InFlightMap", () => {
  it("behaves like a Map for any sequence of changes, including the order of its values", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600, size: "max" }), (steps) => {
        const [inFlight, map] = [new InFlightMap<number, number>(), new Map<number, number>()]
        for (const each of steps) {
          if ("set" in each) {
            inFlight.set(each.set, each.value)
            map.set(each.set, each.value)
          } else if ("delete" in each) {
            assert.strictEqual(inFlight.delete(each.delete), map.delete(each.delete))
          } else {
            inFlight.clear()
            map.clear()
          }
          assert.strictEqual(inFlight.size, map.size)
        }
        assert.deepStrictEqual(inFlight.values(), [...map.values()])
        for (let at = 0; at <= 40; at++) assert.strictEqual(inFlight.get(at), map.get(at))
      })
    )
  })

  it("iterates over the entries of the start of the iteration, despite changes during it", () => {
    const inFlight = new InFlightMap<number, number>()
    for (let n = 0; n < 100; n++) inFlight.set(n, n)
    const seen: Array<number> = []
    for (const n of inFlight.values()) {
      seen.push(n)
      inFlight.delete(n)
      inFlight.set(n + 100, n + 100)
    }
    assert.deepStrictEqual(
      seen,
      Array.from({ length: 100 }, (_, n) => n)
    )
    assert.strictEqual(inFlight.size, 100)
  })
})
