import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { makeShapeHarness, shapeHarnessLayer, timeoutMs } from "./ShapeHarness.ts"
import { type Shape, shapes } from "./shapes.ts"

/** True if the shape ends without a limit. */
const isBrief = ({ expected }: Shape): boolean => expected.every((tag) => tag === "Threw" || tag === "Returned")

const tried = Object.entries(shapes).filter(([, shape]) => shape.always === true || isBrief(shape))

layer(shapeHarnessLayer, { excludeTestServices: true, timeout: "120 seconds" })("hostile code", (it) => {
  it.effect(
    "ends as expected, and affects no other run",
    () =>
      Effect.gen(function* () {
        const { attack } = yield* makeShapeHarness
        const faults: Array<string> = []
        for (const [name, { expected }] of tried) {
          const { execution, failed, answered } = yield* attack(name)
          const { outcome, usage } = execution
          if (!expected.includes(outcome._tag)) faults.push(`${name}: ${JSON.stringify(outcome)}`)
          if (failed.length > 0) faults.push(`${name}: neighbours failed: ${failed.join(", ")}`)
          if (answered === 0) faults.push(`${name}: neighbours were not answered`)
          // A run may exceed its wall time by at most half a second.
          if (usage.wall_ms > timeoutMs + 500) faults.push(`${name}: took ${usage.wall_ms} ms`)
        }
        assert.deepStrictEqual(faults, [])
      }),
    120_000
  )
})
