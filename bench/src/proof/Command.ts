/**
 * `npm run proof -- NAME` does one of the proofs of `Proofs.ts` at length; continuous integration runs short forms of them as tests.
 *
 * --minutes N, --seeds N   for so long, or so often
 * --seed S                 the same again
 * --share S                a soak at this share of what is borne, where others are at work on the machine, too
 * --rate N                 a soak with so many requests in a second, whatever is borne
 * --only WHAT              one of several that it does
 * --keep                   what came of it goes to `docs/reliability`, and onto the page
 * --json FILE              what came of it goes to this file
 *
 * `npm run proof -- docs` writes the page anew. Ends with 1 where something was not as it must.
 */
import { parseArgs } from "node:util"
import { keep, type Outcome, thisRevision, write } from "./Outcome.ts"
import { writePage } from "./Page.ts"
import type { Found, Given } from "./Proof.ts"
import { proofs } from "./Proofs.ts"

const begin = process.argv[2] ?? ""
if (begin === "docs") {
  writePage(proofs)
  process.exit(0)
}
const proof = proofs.get(begin)
if (proof === undefined) {
  console.error(`npm run proof -- NAME, which is one of docs, ${[...proofs.keys()].join(", ")}`)
  process.exit(2)
}

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    minutes: { type: "string" },
    seeds: { type: "string" },
    seed: { type: "string" },
    share: { type: "string" },
    rate: { type: "string" },
    only: { type: "string" },
    keep: { type: "boolean", default: false },
    json: { type: "string" }
  }
})

const numberOf = (option: "minutes" | "seeds" | "seed" | "share" | "rate"): number | null => {
  const text = values[option]
  if (text === undefined) return null
  const value = Number(text)
  if (text.trim() !== "" && Number.isFinite(value) && value >= 0) return value
  console.error(`--${option} takes a number`)
  process.exit(2)
}

const progress = (text: string): void => {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`)
}
const given: Given = {
  minutes: numberOf("minutes"),
  seeds: numberOf("seeds"),
  seed: numberOf("seed"),
  share: numberOf("share"),
  rate: numberOf("rate"),
  ...(values.only === undefined ? {} : { only: values.only }),
  progress
}

// What was started here ends with this process.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))

const revision = thisRevision()
const date = new Date().toISOString().slice(0, 10)
const began = performance.now()
const found: Found = await proof.run(given)
const minutes = (performance.now() - began) / 60_000

const options = (["minutes", "seeds", "seed", "share", "rate", "only"] as const).flatMap((option) =>
  values[option] === undefined ? [] : [`--${option} ${values[option]}`]
)
const command = ["npm run proof --", begin, ...options].join(" ")
const outcome: Outcome = { name: begin, date, command, revision, minutes, ...found }
for (const [label, value] of found.figures) {
  console.log(`${label.padEnd(64)}${value.toLocaleString("en-US", { maximumFractionDigits: 2 }).padStart(16)}`)
}
for (const text of found.notes) console.log(text)
for (const failure of found.failures) console.log(`FAILED: ${failure}`)
console.log(`${minutes.toFixed(1)} minutes, ${found.failures.length === 0 ? "all held" : "NOT all held"}`)
if (values.json !== undefined) write(values.json, outcome)
if (values.keep) {
  keep(outcome)
  writePage(proofs)
}
process.exit(found.failures.length === 0 ? 0 : 1)
