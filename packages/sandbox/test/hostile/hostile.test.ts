import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Shape, shapes } from "./shapes.ts"
import { makeSiege, siegeLayer, timeoutMs } from "./siege.ts"

/** Nothing has to be waited for until it is ended. */
const isBrief = ({ expected }: Shape): boolean => expected.every((tag) => tag === "Threw" || tag === "Returned")

const tried = Object.entries(shapes).filter(([, shape]) => shape.always === true || isBrief(shape))

layer(siegeLayer, { excludeTestServices: true, timeout: "120 seconds" })("hostile code", (it) => {
  it.effect(
    "ends as it must, and takes nobody with it",
    () =>
      Effect.gen(function* () {
        const { attack } = yield* makeSiege
        const faults: Array<string> = []
        for (const [name, { expected }] of tried) {
          const { execution, failed, answered } = yield* attack(name)
          const { outcome, usage } = execution
          if (!expected.includes(outcome._tag)) faults.push(`${name}: ${JSON.stringify(outcome)}`)
          if (failed.length > 0) faults.push(`${name}: neighbours failed: ${failed.join(", ")}`)
          if (answered === 0) faults.push(`${name}: neighbours were not answered`)
          // What passes its wall time by more than half a second broke the contract.
          if (usage.wall_ms > timeoutMs + 500) faults.push(`${name}: took ${usage.wall_ms} ms`)
        }
        assert.deepStrictEqual(faults, [])
      }),
    120_000
  )
})
