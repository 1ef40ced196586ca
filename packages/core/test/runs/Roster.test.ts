import { assert, describe, it } from "@effect/vitest"
import { Roster } from "@weft/core"
import fc from "fast-check"

const key = fc.integer({ min: 0, max: 40 })
const step = fc.oneof(
  { weight: 20, arbitrary: fc.record({ set: key, value: fc.nat() }) },
  { weight: 12, arbitrary: fc.record({ delete: key }) },
  { weight: 1, arbitrary: fc.constant({ clear: true }) }
)

describe("a roster", () => {
  it("has who came and did not go, in the order in which they came, as a map does", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600, size: "max" }), (steps) => {
        const [roster, map] = [new Roster<number, number>(), new Map<number, number>()]
        for (const each of steps) {
          if ("set" in each) {
            roster.set(each.set, each.value)
            map.set(each.set, each.value)
          } else if ("delete" in each) {
            assert.strictEqual(roster.delete(each.delete), map.delete(each.delete))
          } else {
            roster.clear()
            map.clear()
          }
          assert.strictEqual(roster.size, map.size)
        }
        assert.deepStrictEqual(roster.values(), [...map.values()])
        for (let at = 0; at <= 40; at++) assert.strictEqual(roster.get(at), map.get(at))
      })
    )
  })

  it("shows all who were there to one who looks through it while they go and others come", () => {
    const roster = new Roster<number, number>()
    for (let n = 0; n < 100; n++) roster.set(n, n)
    const seen: Array<number> = []
    for (const n of roster.values()) {
      seen.push(n)
      roster.delete(n)
      roster.set(n + 100, n + 100)
    }
    assert.deepStrictEqual(
      seen,
      Array.from({ length: 100 }, (_, n) => n)
    )
    assert.strictEqual(roster.size, 100)
  })
})
