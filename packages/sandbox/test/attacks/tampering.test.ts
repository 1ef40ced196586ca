import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { makeRange, patientMs, protocolBreaches, rangeLayer } from "./Range.ts"
import { tamper } from "./Tampering.ts"

layer(rangeLayer(patientMs), { excludeTestServices: true, timeout: "60 seconds" })("replaced built-ins", (it) => {
  it.effect(
    "forge nothing that leaves the isolate, and end no runner",
    () =>
      Effect.gen(function* () {
        const range = yield* makeRange
        const { places, faults } = yield* tamper(range, false)
        assert.isAbove(places, 100)
        assert.deepStrictEqual(faults, [])
        assert.deepStrictEqual(protocolBreaches(), [])
      }),
    60_000
  )
})
