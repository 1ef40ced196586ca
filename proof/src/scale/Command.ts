/**
 * `npm run proof -- scale`: checks the statements of the run loop with millions of stored runs. Options: `--runs 10000000
 * --envs 1000 --deliveries 100000 --weeks 10 --claims 200`. `--verbose` prints the plans of failing statements.
 */
import { parseArgs } from "node:util"
import { postgres } from "@weft/tooling/services"
import { Effect } from "effect"
import type { ClaimTimes } from "./Claims.ts"
import type { Size } from "./Fill.ts"
import { type Planned, readMax } from "./Plans.ts"
import { collectPlans, findFaulty, measureClaims, prepare } from "./Scale.ts"

const settings = {
  shared_buffers: "1GB",
  max_wal_size: "8GB",
  maintenance_work_mem: "256MB",
  // With `minimal`, rows of a new table skip the write-ahead log.
  wal_level: "minimal",
  max_wal_senders: "0"
}

/** Runs the command and returns its exit code: 1 if a statement reads too many rows or a claim takes too long. */
export const scaleCommand = async (args: ReadonlyArray<string>): Promise<number> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: "string", default: "10000000" },
      envs: { type: "string", default: "1000" },
      deliveries: { type: "string", default: "100000" },
      weeks: { type: "string", default: "10" },
      claims: { type: "string", default: "200" },
      verbose: { type: "boolean", default: false }
    }
  })
  const size: Size = {
    runs: Number(values.runs),
    envs: Number(values.envs),
    deliveries: Number(values.deliveries),
    weeks: Number(values.weeks),
    now: Date.now()
  }
  const server = await postgres({ settings })
  try {
    const progress = (text: string): void => void process.stderr.write(`${text}\n`)
    await Effect.runPromise(prepare(server.url, size, progress))
    const plans = await Effect.runPromise(collectPlans(server.url, size))
    for (const line of table(plans)) console.log(line)
    const bad = findFaulty(plans, readMax)
    for (const { of, text, scanned, read, plan } of bad) {
      console.log(`\n${of}: ${scanned.join(", ")} ${read}\n${text}${values.verbose ? `\n${plan}` : ""}`)
    }
    const { times, fairness } = await Effect.runPromise(measureClaims(server.url, size, Number(values.claims)))
    for (const line of formatTimes(times)) console.log(line)
    console.log(
      `${size.envs - 1} environments with one delivery next to a backlog of ${size.deliveries}: all served within ${fairness.claims} claims, with ${fairness.ofBacklog} of the backlog`
    )
    return bad.length === 0 && times.claim[0] < claimMaxMs ? 0 : 1
  } finally {
    await server.remove()
  }
}

/** Maximum median of claims, in milliseconds. */
const claimMaxMs = 5

const table = (plans: ReadonlyArray<Planned>): ReadonlyArray<string> => [
  `${"".padEnd(60)}${"ms".padStart(10)}${"pages".padStart(10)}${"rows".padStart(10)}`,
  ...plans.map(
    ({ of, text, ms, pages, read }) =>
      `${of} ${text.replace(/\s+/g, " ").trim()}`.slice(0, 90).padEnd(92) +
      `${ms.toFixed(2).padStart(10)}${String(pages).padStart(10)}${String(read).padStart(10)}`
  )
]

const formatTimes = (times: ClaimTimes): ReadonlyArray<string> =>
  Object.entries(times).map(([name, [p50, p99]]) => `${name}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`)
