import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { themes } from "./Attacks.ts"
import { makeRange, protocolBreaches, rangeLayer, victimMs } from "./Range.ts"

for (const { name: theme, attacks, cpuSliceMs } of themes) {
  layer(rangeLayer(cpuSliceMs), { excludeTestServices: true, timeout: "60 seconds" })(`an attack on ${theme}`, (it) => {
    it.effect(
      "is held, and its victim goes on",
      () =>
        Effect.gen(function* () {
          const range = yield* makeRange
          const faults: Array<string> = []
          yield* range.run(attacks, ({ name }, tried) =>
            faults.push(...tried.faults.map((fault) => `${name}: ${fault}`))
          )
          assert.deepStrictEqual(faults, [])
          assert.deepStrictEqual(range.victims.failed, [])
          assert.deepStrictEqual(protocolBreaches(), [])
          assert.isAtLeast(range.victims.answered, attacks.length)
          assert.isBelow(range.victims.worstMs, victimMs)
        }),
      60_000
    )
  })
}
