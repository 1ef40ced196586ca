/** The proof that a stranger or a tenant cannot slow down other tenants: see `Measure.ts`. */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Proof, ProofResult, Table } from "../Proof.ts"
import { measure } from "./Measure.ts"
import type { MemoryFigures } from "./ServerWatch.ts"
import type { Shape } from "./Shape.ts"
import { selectShapes, shapes } from "./Shapes.ts"
import { bar, judge, type Latency, type Measurement } from "./Verdict.ts"

const defaultSeconds = 10

/** The measurement of a shape, or the reason why it is missing. */
export interface Measured {
  readonly shape: Shape
  readonly measurement: Measurement | null
  readonly violations: ReadonlyArray<string>
}

export const neighboursProof: Proof = {
  title: "Noisy neighbours",
  does: `Each attack has a new reference server with default settings. An innocent tenant has a webhook, an event handler and a
schedule of every second. Its client calls the webhook every 50 ms, half of the calls on a new connection. Every
250 ms it publishes an event. A stranger or another tenant attacks for \`--seconds\`, from a process of lower
priority on the same machine. The measurement ends some seconds after the attack, because effects may be late. Before
each attack, the same server is measured without it. \`--list\` prints all attacks, and \`--only\` selects some.`,
  shows: `limits of the innocent webhook on 2 cores: a median of ${bar.medianMs} ms, and ${bar.worstMs} ms for each
answer. Each webhook gets the right answer. Each event and each tick runs once.`,
  doesNotShow: `an attack from many machines, or one that lasts for hours. The client, the attacker and the server share the cores
of one machine. The delays are therefore longer than on separate machines.`,
  list: () =>
    [...shapes.values()].map(
      ({ name, attacker, room, sends }) => `${name.padEnd(26)}${attacker.padEnd(10)}${room.padEnd(12)}${sends}`
    ),
  run: async ({ only, seconds, database, progress }) => {
    const logs = mkdtempSync(join(tmpdir(), "weft-neighbours-log-"))
    progress(`the output of the servers is in ${logs}`)
    const measured: Array<Measured> = []
    for (const shape of selectShapes(only)) {
      const result = await measureShape(shape, { seconds: seconds ?? defaultSeconds, database, logs })
      progress(describe(result))
      measured.push(result)
    }
    return summarizeShapes(measured)
  }
}

type Options = Omit<Parameters<typeof measure>[0], "shape">

/** Measures a shape. A harness that fails is a violation, and the next shapes are still measured. */
const measureShape = async (shape: Shape, options: Options): Promise<Measured> => {
  try {
    const measurement = await measure({ shape, ...options })
    return { shape, measurement, violations: judge(shape, measurement) }
  } catch (error) {
    return { shape, measurement: null, violations: [`it could not be measured: ${error}`] }
  }
}

const describe = ({ shape, measurement, violations }: Measured): string => {
  const verdict = violations.length === 0 ? "held" : `MISSED: ${violations.join("; ")}`
  if (measurement === null) return `${shape.name}: ${verdict}`
  const { idle, attacked, answers } = measurement
  return `${shape.name}: ${asText(idle)} idle, ${asText(attacked)} attacked; saw ${listAnswers(answers)}; ${verdict}`
}

const asText = ({ medianMs, worstMs }: Latency): string => `${medianMs.toFixed(1)}/${worstMs.toFixed(0)} ms`

export const summarizeShapes = (measured: ReadonlyArray<Measured>): ProofResult => {
  const complete = measured.flatMap(({ measurement }) => (measurement === null ? [] : [measurement]))
  const missed = measured.filter(({ violations }) => violations.length > 0)
  const most = (read: (measurement: Measurement) => number): number => Math.max(0, ...complete.map(read))
  return {
    figures: [
      ["attacks", measured.length],
      ["attacks in which the bar was missed", missed.length],
      ["innocent webhooks measured", complete.reduce((sum, { webhooks }) => sum + webhooks, 0)],
      ["innocent webhooks, events and ticks lost", complete.reduce((sum, { losses }) => sum + losses.length, 0)],
      ["largest median of an attack, ms", most(({ attacked }) => attacked.medianMs)],
      ["slowest answer of an attack, ms", most(({ attacked }) => attacked.worstMs)],
      ["largest median without an attack, ms", most(({ idle }) => idle.medianMs)],
      ["slowest answer without an attack, ms", most(({ idle }) => idle.worstMs)],
      ["maximum timer delay of the measuring client, ms", most(({ clientLagMs }) => clientLagMs)],
      ["memory of the server, maximum, MiB", most(({ server }) => server.most.server)]
    ],
    failures: missed.flatMap(({ shape, violations }) => violations.map((violation) => `${shape.name}: ${violation}`)),
    notes: [
      "latencies are median / slowest, in ms; memory is before / maximum / after, in MiB",
      "`closed`: the server closed the connection; `open`: it was open until the end; `pending`: no answer by then"
    ],
    table: toTable(measured)
  }
}

const columns = [
  ...["attack", "by", "room", "idle, ms", "attacked, ms", "slowest event, ms", "lost", "event loop delay, ms"],
  ...["server, MiB", "runners, MiB", "answers to the attacker", "held"]
]

const toTable = (measured: ReadonlyArray<Measured>): Table => ({ columns, rows: measured.map(toRow) })

const toRow = ({ shape, measurement, violations }: Measured): ReadonlyArray<string | number> => {
  const attack = `\`${shape.name}\`: ${shape.sends}`
  const held = violations.length === 0 ? "yes" : "**no**"
  if (measurement === null) return [attack, shape.attacker, shape.room, ...Array<string>(8).fill("–"), held]
  const { idle, attacked, slowestEventMs, losses, server, answers } = measurement
  const { before, most, after } = server
  const memory = (of: keyof MemoryFigures): string => [before, most, after].map((at) => at[of].toFixed(0)).join(" / ")
  return [
    ...[attack, shape.attacker, shape.room, toPair(idle), toPair(attacked), finite(slowestEventMs), losses.length],
    ...[Math.round(server.loopDelayMs), memory("server"), memory("runners"), listAnswers(answers), held]
  ]
}

const toPair = ({ medianMs, worstMs }: Latency): string => `${finite(medianMs)} / ${finite(worstMs)}`

const finite = (ms: number): string => (Number.isFinite(ms) ? ms.toFixed(ms < 10 ? 1 : 0) : "–")

const listAnswers = (answers: Measurement["answers"]): string =>
  answers === null
    ? "did not stop"
    : Object.entries(answers)
        .map(([answer, count]) => `${answer}: ${count.toLocaleString("en-US")}`)
        .join(", ")
