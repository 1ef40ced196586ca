/**
 * `npm run bench` runs every suite, `npm run bench -- webhook` one; `--rounds N`; `--json FILE` keeps the figures;
 * `--only weft` measures contenders with that in their name.
 * `npm run bench -- nodes` is about several nodes, and has options of its own: see `nodes/Command.ts`.
 * `npm run bench -- scale` is about a large database: see `scale/Command.ts`.
 */
import { writeFileSync } from "node:fs"
import { cpus, totalmem } from "node:os"
import { parseArgs } from "node:util"
import { nodesCommand } from "./nodes/Command.ts"
import { table } from "./Report.ts"
import { runSuite, type Suite, type SuiteResult } from "./Suite.ts"
import { scaleCommand } from "./scale/Command.ts"
import { attackSuite } from "./suites/attacks.ts"
import { cancel } from "./suites/cancel.ts"
import { jobs } from "./suites/jobs.ts"
import { latency } from "./suites/latency.ts"
import { streams } from "./suites/streams.ts"
import { transfers } from "./suites/transfers.ts"
import { webhook } from "./suites/webhook.ts"

const suites: ReadonlyArray<Suite> = [webhook, jobs, latency, cancel, attackSuite, transfers, streams]

if (process.argv[2] === "scale") process.exit(await scaleCommand(process.argv.slice(3)))
if (process.argv[2] === "nodes") process.exit(await nodesCommand(process.argv.slice(3)))

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "3" }, json: { type: "string" }, only: { type: "string", default: "" } }
})
const unknown = positionals.find((name) => !suites.some((suite) => suite.name === name))
if (unknown !== undefined) {
  console.error(`There is no suite ${unknown}; there are ${suites.map((suite) => suite.name).join(", ")}`)
  process.exit(2)
}

/** Of its contenders, those that have it in their name. */
const narrowed = (suite: Suite, only: string): Suite => ({
  ...suite,
  open: async () => {
    const opened = await suite.open()
    const contenders = opened.contenders.filter(({ name }) => name.toLowerCase().includes(only.toLowerCase()))
    return { ...opened, contenders }
  }
})

console.log(
  `node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB\n`
)
const results: Array<SuiteResult> = []
for (const suite of suites) {
  if (positionals.length > 0 && !positionals.includes(suite.name)) continue
  const result = await runSuite(narrowed(suite, values.only), Number(values.rounds), (text) =>
    process.stderr.write(`${text}\n`)
  )
  results.push(result)
  console.log(`${table(result)}\n`)
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`)
process.exit(0)
