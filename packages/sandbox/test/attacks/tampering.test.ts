import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { generousSliceMs, harnessLayer, makeHarness, protocolBreaches } from "./AttackHarness.ts"
import { tamper } from "./Tampering.ts"

layer(harnessLayer(generousSliceMs), { excludeTestServices: true, timeout: "60 seconds" })(
  "replaced built-ins",
  (it) => {
    it.effect(
      "forge no output of the isolate, and kill no runner",
      () =>
        Effect.gen(function* () {
          const harness = yield* makeHarness
          const { places, faults } = yield* tamper(harness, false)
          assert.isAbove(places, 100)
          assert.deepStrictEqual(faults, [])
          assert.deepStrictEqual(protocolBreaches(), [])
        }),
      60_000
    )
  }
)
