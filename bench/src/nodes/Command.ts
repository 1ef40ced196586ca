/**
 * `npm run bench -- nodes`: several nodes under fire. `--minutes 30 --nodes 3 --seed 1 --rate 50 --storage s3|folder
 * --lease MS --kinds "kill,database crash" --json FILE`; `--short` for the form that continuous integration runs. Ends with 1 where something was not
 * as it must.
 *
 * `--throughput` and `--idle` measure instead.
 */
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { type ChaosOptions, chaos } from "./Chaos.ts"
import { type FaultKind, faultKinds } from "./Faults.ts"
import { idle } from "./Idle.ts"
import { chaosReport, idleReport, throughputReport } from "./Reports.ts"
import { throughput } from "./Throughput.ts"

const progress = (text: string): void => {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`)
}

/** What a node asks of the database at most while nobody asks anything of it. */
const idlePerMinute = 5

/** The exit code: 1 where something was not as it must. */
export const nodesCommand = async (args: ReadonlyArray<string>): Promise<number> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: "string" },
      nodes: { type: "string", default: "3" },
      seed: { type: "string", default: "1" },
      rate: { type: "string" },
      rounds: { type: "string", default: "3" },
      storage: { type: "string", default: "s3" },
      lease: { type: "string" },
      kinds: { type: "string" },
      short: { type: "boolean", default: false },
      throughput: { type: "boolean", default: false },
      idle: { type: "boolean", default: false },
      json: { type: "string" }
    }
  })
  // What was started here ends with this process.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))
  const keep = (result: unknown): void => {
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result, null, 2)}\n`)
  }
  if (values.throughput) {
    const rows = await throughput({ counts: [1, 2, 4], rounds: Number(values.rounds), seconds: 10, progress })
    console.log(throughputReport(rows))
    keep(rows)
    return 0
  }
  if (values.idle) {
    const figures = await idle({ nodes: Number(values.nodes), minutes: Number(values.minutes ?? 5), progress })
    console.log(idleReport(figures))
    keep(figures)
    return figures.perMinuteAndNode < idlePerMinute ? 0 : 1
  }
  const given = { ...values, nodes: Number(values.nodes), seed: Number(values.seed) }
  const verdict = await chaos(chaosOptions(given))
  console.log(chaosReport(verdict))
  keep(verdict)
  return verdict.violations === 0 ? 0 : 1
}

interface Given {
  readonly nodes: number
  readonly seed: number
  readonly minutes?: string
  readonly rate?: string
  readonly lease?: string
  readonly kinds?: string
  readonly storage: string
  readonly short: boolean
}

const chaosOptions = ({ short, nodes, seed, minutes, rate, lease, kinds, storage }: Given): ChaosOptions => ({
  nodes,
  seed,
  progress,
  minutes: Number(minutes ?? (short ? 0.6 : 5)),
  rate: Number(rate ?? (short ? 20 : 50)),
  storage: storage === "folder" || short ? "folder" : "s3",
  leaseMs: Number(lease ?? (short ? 4_000 : 30_000)),
  kinds: kinds === undefined ? (short ? shortKinds : faultKinds) : kindsIn(kinds),
  restMs: short ? [500, 1_000] : [3_000, 12_000],
  memoryMiB: 768
})

const shortKinds: ReadonlyArray<FaultKind> = ["kill", "pause", "blackhole", "database crash"]

const kindsIn = (text: string): ReadonlyArray<FaultKind> =>
  text.split(",").map((name) => {
    const kind = faultKinds.find((known) => known === name.trim())
    if (kind === undefined) throw new Error(`There is no fault ${name}; there are ${faultKinds.join(", ")}`)
    return kind
  })
