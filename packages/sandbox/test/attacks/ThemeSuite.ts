/** A suite of all themes of attacks, in one of the ways in which attackers get code into an isolate. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type AttackHarness, harnessLayer, makeHarness, protocolBreaches, victimMs } from "./AttackHarness.ts"
import { themes } from "./Attacks.ts"

/** Maximum time of all attacks of a theme in milliseconds. Alone they take 15 s; other test files share the processors. */
const themeMaxMs = 180_000

/** @param way `run` for functions of a build, `runSources` for source text */
export const attackThemes = (what: string, way: keyof Pick<AttackHarness, "run" | "runSources">): void => {
  for (const { name: theme, attacks, cpuSliceMs } of themes) {
    layer(harnessLayer(cpuSliceMs), { excludeTestServices: true, timeout: "60 seconds" })(
      `${what} on ${theme}`,
      (it) => {
        it.effect(
          "is contained, and its victim continues",
          () =>
            Effect.gen(function* () {
              const harness = yield* makeHarness
              const faults: Array<string> = []
              yield* harness[way](attacks, ({ name }, tried) =>
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
}
