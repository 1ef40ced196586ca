import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { cross } from "./Crossing.ts"
import { makeRange, patientMs, protocolBreaches, rangeLayer } from "./Range.ts"

layer(rangeLayer(patientMs), { excludeTestServices: true, timeout: "60 seconds" })(
  "a value that is not what it seems",
  (it) => {
    it.effect(
      "ends its own run and nothing else, wherever it crosses",
      () =>
        Effect.gen(function* () {
          const range = yield* makeRange
          const { crossed, faults } = yield* cross(range, false)
          assert.isAbove(crossed, 400)
          assert.deepStrictEqual(faults, [])
          assert.deepStrictEqual(protocolBreaches(), [])
          assert.deepStrictEqual(range.victims.failed, [])
        }),
      60_000
    )
  }
)
