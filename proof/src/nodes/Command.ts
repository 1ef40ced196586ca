/**
 * `npm run proof -- nodes`: several nodes with faults. Options: `--minutes 30 --nodes 3 --seed 1 --rate 50
 * --storage s3|folder --lease MS --kinds "kill,database crash" --json FILE`. `--short` is the form of continuous
 * integration. The exit code is 1 if anything did not hold.
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

/** Maximum statements per minute of an idle node. */
const idlePerMinute = 5

/** Runs the command and returns its exit code: 1 if anything did not hold. */
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
  // Child processes end with this process.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))
  const writeResult = (result: unknown): void => {
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result, null, 2)}\n`)
  }
  if (values.throughput) {
    const rows = await throughput({ counts: [1, 2, 4], rounds: Number(values.rounds), seconds: 10, progress })
    console.log(throughputReport(rows))
    writeResult(rows)
    return 0
  }
  if (values.idle) {
    const figures = await idle({ nodes: Number(values.nodes), minutes: Number(values.minutes ?? 5), progress })
    console.log(idleReport(figures))
    writeResult(figures)
    return figures.perMinuteAndNode < idlePerMinute ? 0 : 1
  }
  const given = { ...values, nodes: Number(values.nodes), seed: Number(values.seed) }
  const verdict = await chaos(chaosOptions(given))
  console.log(chaosReport(verdict))
  writeResult(verdict)
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
  kinds: kinds === undefined ? (short ? shortKinds : faultKinds) : parseKinds(kinds),
  restMs: short ? [500, 1_000] : [3_000, 12_000],
  memoryMiB: 768
})

const shortKinds: ReadonlyArray<FaultKind> = ["kill", "pause", "blackhole", "database crash"]

const parseKinds = (text: string): ReadonlyArray<FaultKind> =>
  text.split(",").map((name) => {
    const kind = faultKinds.find((known) => known === name.trim())
    if (kind === undefined)
      throw new Error(
        `Unknown fault ${JSON.stringify(name.trim())} in --kinds; the faults are ${faultKinds.join(", ")}`
      )
    return kind
  })
