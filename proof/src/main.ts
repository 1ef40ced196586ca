/**
 * `npm run proof -- NAME` runs one of the proofs of `Proofs.ts` at length. Continuous integration runs their short forms
 * as tests.
 *
 * --minutes N, --seeds N   duration, or number of seeds
 * --seed S                 repeats the run of this seed
 * --share S                share of the measured capacity that a soak uses; lower it on a busy machine
 * --rate N                 requests per second of a soak, instead of a share of its capacity
 * --only NAME              one of several parts of the proof; `neighbours` and `crash` accept several with commas
 * --wpt FOLDER             also runs these Web Platform Tests in `compatibility`
 * --list                   prints the names of the parts, and runs nothing
 * --seconds N              duration of each part of `neighbours`
 * --database postgres      database of `neighbours`, instead of SQLite
 * --record                 writes the outcome to `docs/reliability`, and updates the page
 * --json FILE              writes the outcome to this file
 *
 * `npm run proof -- docs` writes the page from the recorded outcomes. The exit code is 1 if anything did not hold.
 * `nodes`, `scale`, `growth` and `console` have options of their own: see `nodes/Command.ts`, `scale/Command.ts` and, for
 * the last two, `npm run bench`.
 */
import { parseArgs } from "node:util"
import { benchCommand } from "@weft/bench/suites"
import { consoleSuite } from "./console/ConsoleSuite.ts"
import { growth } from "./growth/GrowthSuite.ts"
import { nodesCommand } from "./nodes/Command.ts"
import type { ProofOptions, ProofResult } from "./Proof.ts"
import { proofs } from "./Proofs.ts"
import { type Outcome, readRevision, record, write } from "./reports/Outcome.ts"
import { writePage } from "./reports/Page.ts"
import { scaleCommand } from "./scale/Command.ts"

const name = process.argv[2] ?? ""
const rest = process.argv.slice(3)
if (name === "docs") {
  writePage(proofs)
  process.exit(0)
}
if (name === "nodes") process.exit(await nodesCommand(rest))
if (name === "scale") process.exit(await scaleCommand(rest))
if (name === "growth") process.exit(await benchCommand(["growth", ...rest], [growth]))
if (name === "console") process.exit(await benchCommand(["console", ...rest], [consoleSuite]))
const proof = proofs.get(name)
if (proof === undefined) {
  const names = ["docs", "nodes", "scale", "growth", "console", ...proofs.keys()]
  console.error(
    `Unknown proof ${JSON.stringify(name)}: npm run proof -- NAME, where NAME is one of ${names.join(", ")}`
  )
  process.exit(2)
}

const { values } = parseArgs({
  args: rest,
  options: {
    minutes: { type: "string" },
    seeds: { type: "string" },
    seed: { type: "string" },
    share: { type: "string" },
    rate: { type: "string" },
    only: { type: "string" },
    wpt: { type: "string" },
    list: { type: "boolean", default: false },
    seconds: { type: "string" },
    database: { type: "string", default: "sqlite" },
    record: { type: "boolean", default: false },
    json: { type: "string" }
  }
})

const numbers = ["minutes", "seeds", "seed", "share", "rate", "seconds"] as const

const parseNumber = (option: (typeof numbers)[number]): number | null => {
  const text = values[option]
  if (text === undefined) return null
  const value = Number(text)
  if (text.trim() !== "" && Number.isFinite(value) && value >= 0) return value
  console.error(`--${option} must be a number of 0 or more (got ${JSON.stringify(text)})`)
  process.exit(2)
}

if (values.list) {
  for (const line of proof.list?.() ?? [`${name} has no parts`]) console.log(line)
  process.exit(0)
}
const { database } = values
if (database !== "sqlite" && database !== "postgres") {
  console.error(`--database must be sqlite or postgres (got ${JSON.stringify(database)})`)
  process.exit(2)
}

const progress = (text: string): void => {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`)
}
const given: ProofOptions = {
  minutes: parseNumber("minutes"),
  seeds: parseNumber("seeds"),
  seed: parseNumber("seed"),
  share: parseNumber("share"),
  rate: parseNumber("rate"),
  seconds: parseNumber("seconds"),
  database,
  ...(values.only === undefined ? {} : { only: values.only }),
  ...(values.wpt === undefined ? {} : { wpt: values.wpt }),
  progress
}

// Child processes end with this process.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))

const revision = readRevision()
const date = new Date().toISOString().slice(0, 10)
const startedAt = performance.now()
const result: ProofResult = await proof.run(given)
const minutes = (performance.now() - startedAt) / 60_000

const options = [...numbers, "only" as const].flatMap((option) =>
  values[option] === undefined ? [] : [`--${option} ${values[option]}`]
)
if (values.wpt !== undefined) options.push("--wpt FOLDER")
if (database !== "sqlite") options.push(`--database ${database}`)
const command = ["npm run proof --", name, ...options].join(" ")
const outcome: Outcome = { name, date, command, revision, minutes, ...result }
for (const [label, value] of result.figures) {
  console.log(`${label.padEnd(64)}${value.toLocaleString("en-US", { maximumFractionDigits: 2 }).padStart(16)}`)
}
for (const text of result.notes) console.log(text)
for (const failure of result.failures) console.log(`FAILED: ${failure}`)
console.log(`${minutes.toFixed(1)} minutes, ${result.failures.length === 0 ? "all held" : "NOT all held"}`)
if (values.json !== undefined) write(values.json, outcome)
if (values.record) {
  record(outcome)
  writePage(proofs)
}
process.exit(result.failures.length === 0 ? 0 : 1)
