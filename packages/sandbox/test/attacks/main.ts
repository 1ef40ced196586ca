/**
 * Repeats all attacks: `node --conditions=weft-source packages/sandbox/test/attacks/main.ts [MINUTES]`.
 * Progress goes to standard error, one line each. The result is the last line of standard output, as JSON.
 */
import { Effect } from "effect"
import { makeShapeHarness, shapeHarnessLayer } from "../hostile/ShapeHarness.ts"
import { shapes } from "../hostile/shapes.ts"
import { generousSliceMs, harnessLayer, makeHarness, protocolBreaches, victimMs } from "./AttackHarness.ts"
import { themes } from "./Attacks.ts"
import { cross } from "./Crossing.ts"
import { tamper } from "./Tampering.ts"

const minutes = Number(process.argv[2] ?? 0)
const until = performance.now() + minutes * 60_000
const isOver = () => performance.now() > until

/** Counts, by their names on the page of results. */
const counts = {
  rounds: 0,
  "programs that attack": 0,
  "hostile values at places where values cross": 0,
  "built-ins replaced by liars": 0,
  "hostile shapes that hang, crash or starve": 0,
  "answers of victims meanwhile": 0,
  "answers of victims that failed": 0,
  "victims' longest wait, ms": 0,
  "promises of the host that nobody handled": 0,
  "attacks that got out or ended otherwise than they must": 0
}
const failures: Array<string> = []

const fail = (what: string): void => {
  failures.push(what)
  process.stderr.write(`FAULT ${what}\n`)
}

process.on("unhandledRejection", (error) => {
  counts["promises of the host that nobody handled"]++
  fail(`an unhandled rejection: ${error instanceof Error ? error.message : String(error)}`)
})

const recordFaults = (name: string, faults: ReadonlyArray<string>): void => {
  if (faults.length > 0) counts["attacks that got out or ended otherwise than they must"]++
  for (const fault of faults) fail(`${name}: ${fault}`)
}

const recordVictims = (victims: {
  readonly answered: number
  readonly failed: ReadonlyArray<string>
  readonly worstMs: number
}) => {
  counts["answers of victims meanwhile"] += victims.answered
  counts["answers of victims that failed"] += victims.failed.length
  counts["victims' longest wait, ms"] = Math.max(counts["victims' longest wait, ms"], Math.round(victims.worstMs))
  for (const failed of victims.failed) fail(`a victim's call ended with ${failed}`)
}

const themeRound = Effect.fnUntraced(function* (theme: (typeof themes)[number]) {
  const harness = yield* makeHarness
  yield* harness.run(theme.attacks, ({ name }, { faults }) => {
    counts["programs that attack"]++
    recordFaults(name, faults)
  })
  recordVictims(harness.victims)
})

const valuesRound = Effect.gen(function* () {
  const harness = yield* makeHarness
  const { crossed, faults } = yield* cross(harness, true)
  counts["hostile values at places where values cross"] += crossed
  for (const fault of faults) recordFaults("a value", [fault])
  const { places, faults: forgeries } = yield* tamper(harness, true)
  counts["built-ins replaced by liars"] += places
  for (const fault of forgeries) recordFaults("a built-in", [fault])
  recordVictims(harness.victims)
})

const shapesRound = Effect.gen(function* () {
  const { attack } = yield* makeShapeHarness
  for (const [name, { expected }] of Object.entries(shapes)) {
    const { execution, failed, answered, longestMs } = yield* attack(name)
    const tag = execution.outcome._tag
    counts["hostile shapes that hang, crash or starve"]++
    recordFaults(name, expected.includes(tag) ? [] : [`ended as ${tag}`])
    recordVictims({ answered, failed, worstMs: longestMs })
  }
})

const round = Effect.gen(function* () {
  for (const theme of themes) yield* Effect.provide(themeRound(theme), harnessLayer(theme.cpuSliceMs))
  yield* Effect.provide(valuesRound, harnessLayer(generousSliceMs))
  yield* Effect.provide(shapesRound, shapeHarnessLayer)
  counts.rounds++
  process.stderr.write(`round ${counts.rounds}: ${failures.length} faults\n`)
})

do await Effect.runPromise(round)
while (!isOver())
if (counts["victims' longest wait, ms"] >= victimMs) fail(`a victim waited ${counts["victims' longest wait, ms"]} ms`)
recordFaults("the protocol", protocolBreaches())
console.log(JSON.stringify({ counts, failures }))
process.exit(failures.length === 0 ? 0 : 1)
