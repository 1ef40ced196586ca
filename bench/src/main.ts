/**
 * `npm run bench` runs every suite that is about speed, `npm run bench -- webhook latency` those two.
 *
 * --rounds N      each contender so often, in turns: by default 3 times where suites are named, else twice
 * --only A,B      contenders with one of these in their name
 * --short         whether everything works: a round each, of what starts quickly
 * --keep          results go to `bench/results`, from where the documentation takes them
 * --json FILE     results go to this file
 *
 * `npm run bench -- install` installs what `--short` needs, so that somebody may do it while other things go on.
 * `npm run bench -- docs` writes the newest results into the documentation: see `results/Page.ts`.
 * `npm run bench -- nodes` is about several nodes, and has options of its own: see `nodes/Command.ts`.
 * `npm run bench -- scale` is about a large database: see `scale/Command.ts`.
 */
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { nodesCommand } from "./nodes/Command.ts"
import { table } from "./Report.ts"
import { keep } from "./results/Kept.ts"
import { machineText, thisMachine } from "./results/Machine.ts"
import { writePage } from "./results/Page.ts"
import { runSuite, type Suite, type SuiteResult } from "./Suite.ts"
import { suites } from "./Suites.ts"
import { scaleCommand } from "./scale/Command.ts"
import { install } from "./targets/Peers.ts"

if (process.argv[2] === "scale") process.exit(await scaleCommand(process.argv.slice(3)))
if (process.argv[2] === "docs") {
  writePage()
  process.exit(0)
}
if (process.argv[2] === "nodes") process.exit(await nodesCommand(process.argv.slice(3)))

const progress = (text: string): void => void process.stderr.write(`${text}\n`)
if (process.argv[2] === "install") {
  await install("peers", progress)
  process.exit(0)
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string" },
    only: { type: "string", default: "" },
    short: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    json: { type: "string" }
  }
})
const unknown = positionals.find((name) => !suites.some((suite) => suite.name === name))
if (unknown !== undefined) {
  console.error(`There is no suite ${unknown}; there are ${suites.map((suite) => suite.name).join(", ")}`)
  process.exit(2)
}

if (values.keep && (values.short || values.only !== "")) {
  console.error("What is kept is whole: not together with --short or --only")
  process.exit(2)
}

const isAsked = (suite: Suite): boolean => {
  if (positionals.length > 0) return positionals.includes(suite.name)
  return values.short ? suite.hasShort === true : suite.isExtra !== true
}
const wanted = values.only.toLowerCase().split(",")
const isChosen = (name: string): boolean => wanted.some((word) => name.toLowerCase().includes(word))

/** All together take less than twenty minutes; who names a suite wants to know more exactly. */
const roundsOf = (isNamed: boolean): number => (values.short ? 1 : Number(values.rounds ?? (isNamed ? 3 : 2)))

const measure = (suite: Suite): Promise<SuiteResult> =>
  runSuite(suite, {
    isShort: values.short,
    isNamed: positionals.includes(suite.name),
    rounds: roundsOf(positionals.includes(suite.name)),
    isChosen,
    progress,
    install: (what) => install(what, progress)
  })

console.log(`${machineText(thisMachine())}\n`)
const results: Array<SuiteResult> = []
const broken: Array<string> = []
const began = performance.now()
const secondsSince = (began: number): number => Math.round((performance.now() - began) / 1000)
for (const suite of suites.filter(isAsked)) {
  const suiteBegan = performance.now()
  try {
    const result = await measure(suite)
    results.push(result)
    console.log(`${table(result)}\n\n${suite.name} took ${secondsSince(suiteBegan)} s\n`)
    if (Object.keys(result.broken).length > 0) broken.push(suite.name)
    else if (values.keep) {
      keep({ date: new Date().toISOString().slice(0, 10), machine: thisMachine(), ...result })
    }
  } catch (error) {
    console.error(`BROKEN: ${suite.name}:`, error)
    broken.push(suite.name)
  }
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`)
console.log(`${secondsSince(began)} s in all`)
if (broken.length > 0) console.error(`Broken: ${broken.join(", ")}`)
process.exit(broken.length === 0 ? 0 : 1)
