/** Text reports of the measurements. */
import type { IdleFigures } from "./Idle.ts"
import type { ThroughputRow } from "./Throughput.ts"
import type { Verdict } from "./Verdict.ts"

const line = (name: string, value: number): string => {
  const text = Number.isInteger(value) ? value.toLocaleString("en-US") : value.toFixed(1)
  return `  ${name.padEnd(62)}${text.padStart(12)}`
}

export const chaosReport = ({ settings, figures, faults, findings, violations, logs }: Verdict): string =>
  [
    "nodes with faults",
    ...Object.entries(settings).map(([name, value]) => `  ${name}: ${value}`),
    "\nfaults",
    ...Object.entries(faults).map(([name, count]) => line(name, count)),
    "\nfigures",
    ...figures.map(([name, value]) => line(name, value)),
    "\nviolations",
    ...findings.flatMap(({ what, count, samples }) => [line(what, count), ...samples.map((sample) => `    ${sample}`)]),
    violations === 0 ? "\nEverything held." : `\n${violations} violations; the output of the nodes is in ${logs}`
  ].join("\n")

export const throughputReport = (rows: ReadonlyArray<ThroughputRow>): string =>
  [
    "several nodes compared with one, on one durable PostgreSQL and the same processors",
    ...rows.map(
      ({ figure, nodes, median, ratio }) =>
        `  ${figure.padEnd(50)}${String(nodes).padStart(3)} nodes${median.toFixed(1).padStart(12)}${ratio.toFixed(2).padStart(8)} of one`
    )
  ].join("\n")

export const idleReport = ({ nodes, minutes, perMinuteAndNode, statements }: IdleFigures): string =>
  [
    `statements of ${nodes} idle nodes in ${minutes} minutes`,
    line("per minute and node", perMinuteAndNode),
    ...statements.map(({ text, calls }) => `${String(calls).padStart(6)}  ${text.slice(0, 200)}`)
  ].join("\n")
