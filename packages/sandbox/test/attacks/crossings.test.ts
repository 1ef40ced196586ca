import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { generousSliceMs, harnessLayer, makeHarness, protocolBreaches } from "./AttackHarness.ts"
import { cross } from "./Crossing.ts"

layer(harnessLayer(generousSliceMs), { excludeTestServices: true, timeout: "60 seconds" })(
  "a deceptive value",
  (it) => {
    it.effect(
      "ends only its own run, at every place",
      () =>
        Effect.gen(function* () {
          const harness = yield* makeHarness
          const { crossed, faults } = yield* cross(harness, false)
          assert.isAbove(crossed, 400)
          assert.deepStrictEqual(faults, [])
          assert.deepStrictEqual(protocolBreaches(), [])
          assert.deepStrictEqual(harness.victims.failed, [])
        }),
      60_000
    )
  }
)
