/**
 * `npm run bench -- nodes`: several nodes under fire. `--minutes 30 --nodes 3 --seed 1 --rate 50 --json FILE`,
 * `--short` for the form that continuous integration runs; `--throughput` and `--idle` measure instead.
 */
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { type ChaosOptions, chaos } from "./Chaos.ts"
import type { Verdict } from "./Verdict.ts"

const progress = (text: string): void => {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`)
}

/** The exit code: 1 where something was not as it must. */
export const nodesCommand = async (args: ReadonlyArray<string>): Promise<number> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: "string" },
      nodes: { type: "string", default: "3" },
      seed: { type: "string", default: "1" },
      rate: { type: "string", default: "50" },
      storage: { type: "string", default: "s3" },
      lease: { type: "string" },
      short: { type: "boolean", default: false },
      json: { type: "string" }
    }
  })
  const options: ChaosOptions = {
    minutes: Number(values.minutes ?? (values.short ? 0.5 : 5)),
    nodes: Number(values.nodes),
    seed: Number(values.seed),
    rate: Number(values.rate),
    storage: values.storage === "folder" ? "folder" : "s3",
    leaseMs: Number(values.lease ?? (values.short ? 4_000 : 30_000)),
    restMs: values.short ? [500, 1_500] : [3_000, 12_000],
    memoryMiB: 768,
    progress
  }
  const verdict = await chaos(options)
  console.log(report(verdict))
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(verdict, null, 2)}\n`)
  return verdict.violations === 0 ? 0 : 1
}

const report = ({ settings, figures, faults, findings, violations, logs }: Verdict): string => {
  const line = (name: string, value: number): string => {
    const text = Number.isInteger(value) ? value.toLocaleString("en-US") : value.toFixed(1)
    return `  ${name.padEnd(62)}${text.padStart(12)}`
  }
  return [
    "nodes under fire",
    ...Object.entries(settings).map(([name, value]) => `  ${name}: ${value}`),
    "\nfaults",
    ...Object.entries(faults).map(([name, count]) => line(name, count)),
    "\nfigures",
    ...figures.map(([name, value]) => line(name, value)),
    "\nwhat must not be",
    ...findings.flatMap(({ what, count, samples }) => [line(what, count), ...samples.map((sample) => `    ${sample}`)]),
    violations === 0 ? "\nNothing was lost." : `\n${violations} violations; the nodes' output is in ${logs}`
  ].join("\n")
}
