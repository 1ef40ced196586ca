/**
 * All attacks, over and over: `node --conditions=weft-source packages/sandbox/test/attacks/main.ts [MINUTES]`. What it
 * does goes to standard error, a line each; what came of it is the last line of standard output, as JSON.
 */
import { Effect } from "effect"
import { shapes } from "../hostile/shapes.ts"
import { makeSiege, siegeLayer } from "../hostile/siege.ts"
import { themes } from "./Attacks.ts"
import { cross } from "./Crossing.ts"
import { makeRange, patientMs, protocolBreaches, rangeLayer, victimMs } from "./Range.ts"
import { tamper } from "./Tampering.ts"

const minutes = Number(process.argv[2] ?? 0)
const until = performance.now() + minutes * 60_000
const isOver = () => performance.now() > until

/** By the words of the page. */
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
  fail(`nobody handled ${error instanceof Error ? error.message : String(error)}`)
})

const judge = (name: string, faults: ReadonlyArray<string>): void => {
  if (faults.length > 0) counts["attacks that got out or ended otherwise than they must"]++
  for (const fault of faults) fail(`${name}: ${fault}`)
}

const heed = (victims: {
  readonly answered: number
  readonly failed: ReadonlyArray<string>
  readonly worstMs: number
}) => {
  counts["answers of victims meanwhile"] += victims.answered
  counts["answers of victims that failed"] += victims.failed.length
  counts["victims' longest wait, ms"] = Math.max(counts["victims' longest wait, ms"], Math.round(victims.worstMs))
  for (const failed of victims.failed) fail(`a victim was answered ${failed}`)
}

const themeRound = Effect.fnUntraced(function* (theme: (typeof themes)[number]) {
  const range = yield* makeRange
  yield* range.run(theme.attacks, ({ name }, { faults }) => {
    counts["programs that attack"]++
    judge(name, faults)
  })
  heed(range.victims)
})

const valuesRound = Effect.gen(function* () {
  const range = yield* makeRange
  const { crossed, faults } = yield* cross(range, true)
  counts["hostile values at places where values cross"] += crossed
  for (const fault of faults) judge("a value", [fault])
  const { places, faults: forgeries } = yield* tamper(range, true)
  counts["built-ins replaced by liars"] += places
  for (const fault of forgeries) judge("a built-in", [fault])
  heed(range.victims)
})

const shapesRound = Effect.gen(function* () {
  const { attack } = yield* makeSiege
  for (const [name, { expected }] of Object.entries(shapes)) {
    const { execution, failed, answered, longestMs } = yield* attack(name)
    const tag = execution.outcome._tag
    counts["hostile shapes that hang, crash or starve"]++
    judge(name, expected.includes(tag) ? [] : [`ended as ${tag}`])
    heed({ answered, failed, worstMs: longestMs })
  }
})

const round = Effect.gen(function* () {
  for (const theme of themes) yield* Effect.provide(themeRound(theme), rangeLayer(theme.cpuSliceMs))
  yield* Effect.provide(valuesRound, rangeLayer(patientMs))
  yield* Effect.provide(shapesRound, siegeLayer)
  counts.rounds++
  process.stderr.write(`round ${counts.rounds}: ${failures.length} faults\n`)
})

do await Effect.runPromise(round)
while (!isOver())
if (counts["victims' longest wait, ms"] >= victimMs) fail(`a victim waited ${counts["victims' longest wait, ms"]} ms`)
judge("the protocol", protocolBreaches())
console.log(JSON.stringify({ counts, failures }))
process.exit(failures.length === 0 ? 0 : 1)
