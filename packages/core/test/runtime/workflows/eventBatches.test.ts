import { assert, it } from "@effect/vitest"
import { JsonText } from "@weft/core/adapter"
import * as fc from "fast-check"
import { toBatches } from "../../../src/runtime/workflows/EventBatches.ts"

const KiB = 1024

const eventOf = (event_type: string, length: number, n: number) => ({
  n,
  event_type,
  event_data: JsonText.make(JSON.stringify("x".repeat(length - 2)))
})

const arbitraryEvents = fc.array(
  fc.tuple(fc.constantFrom("a", "b", "c"), fc.oneof(fc.integer({ min: 2, max: 400 * KiB }), fc.constant(2))),
  { maxLength: 400, size: "max" }
)

it("batches have one type each, keep its order and are bounded", () => {
  fc.assert(
    fc.property(arbitraryEvents, (entries) => {
      const events = entries.map(([type, length], n) => eventOf(type, length, n))
      const batches = toBatches(events)
      for (const type of ["a", "b", "c"]) {
        const ofType = batches.filter(([first]) => first.event_type === type)
        assert.deepStrictEqual(
          ofType.flat().map(({ n }) => n),
          events.filter(({ event_type }) => event_type === type).map(({ n }) => n)
        )
      }
      for (const batch of batches) {
        const length = batch.reduce((sum, { event_data }) => sum + event_data.length, 0)
        assert.isAtMost(batch.length, 100)
        if (batch.length > 1) assert.isAtMost(length, 256 * KiB)
      }
    }),
    { numRuns: 50 }
  )
})

it("many small events are one batch per hundred", () => {
  const events = Array.from({ length: 250 }, (_, n) => eventOf("a", 10, n))
  assert.deepStrictEqual(
    toBatches(events).map(({ length }) => length),
    [100, 100, 50]
  )
})
