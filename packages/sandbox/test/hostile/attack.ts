/** Runs all hostile shapes, or some by name, one line each: `npm run attack -w @weft/sandbox`. */
import { Console, Effect } from "effect"
import { makeShapeHarness, shapeHarnessLayer } from "./ShapeHarness.ts"
import { shapes } from "./shapes.ts"

const asked = process.argv.slice(2)
const names = asked.length > 0 ? asked : Object.keys(shapes)

const program = Effect.gen(function* () {
  const { attack } = yield* makeShapeHarness
  let faults = 0
  for (const name of names) {
    const { execution, failed, answered, longestMs } = yield* attack(name)
    const { outcome, usage } = execution
    const honest = shapes[name]?.expected.includes(outcome._tag) === true && failed.length === 0
    if (!honest) faults++
    const said = "message" in outcome ? outcome.message.slice(0, 60) : ""
    yield* Console.log(
      `${honest ? "ok   " : "FAULT"} ${name.padEnd(36)} ${outcome._tag.padEnd(14)} ${usage.wall_ms.toFixed(0).padStart(5)} ms  ` +
        `neighbours: ${answered} answered, ${failed.length} failed, longest ${longestMs.toFixed(0)} ms  ${said}`
    )
  }
  yield* Console.log(`${names.length} shapes, ${faults} faults`)
  if (faults > 0) process.exitCode = 1
})

await Effect.runPromise(Effect.provide(program, shapeHarnessLayer))
