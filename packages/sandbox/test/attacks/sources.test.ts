import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { harnessLayer, makeHarness, protocolBreaches, themeMaxMs, victimMs } from "./AttackHarness.ts"
import { themes } from "./Attacks.ts"

for (const { name: theme, attacks, cpuSliceMs } of themes) {
  layer(harnessLayer(cpuSliceMs), { excludeTestServices: true, timeout: "60 seconds" })(
    `source text with an attack on ${theme}`,
    (it) => {
      it.effect(
        "is contained, and its victim continues",
        () =>
          Effect.gen(function* () {
            const harness = yield* makeHarness
            const faults: Array<string> = []
            yield* harness.runSources(attacks, ({ name }, tried) =>
              faults.push(...tried.faults.map((fault) => `${name}: ${fault}`))
            )
            assert.deepStrictEqual(faults, [])
            assert.deepStrictEqual(harness.victims.failed, [])
            assert.deepStrictEqual(protocolBreaches(), [])
            assert.isAtLeast(harness.victims.answered, attacks.length)
            assert.isBelow(harness.victims.worstMs, victimMs)
          }),
        themeMaxMs
      )
    }
  )
}
