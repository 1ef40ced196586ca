/** The command line of the suites: measures them, prints their tables and records their results. */
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { table } from "./Report.ts"
import { machineText, thisMachine } from "./results/Machine.ts"
import { record } from "./results/Recorded.ts"
import { runSuite, type Suite, type SuiteResult } from "./Suite.ts"
import { install } from "./targets/Peers.ts"

const progress = (text: string): void => void process.stderr.write(`${text}\n`)

const parse = (args: ReadonlyArray<string>) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rounds: { type: "string" },
      only: { type: "string", default: "" },
      short: { type: "boolean", default: false },
      record: { type: "boolean", default: false },
      json: { type: "string" }
    }
  })

type Options = ReturnType<typeof parse>["values"]

/** Measures the suites that the arguments name, or all; returns the exit code. */
export const benchCommand = async (args: ReadonlyArray<string>, suites: ReadonlyArray<Suite>): Promise<number> => {
  const { values, positionals } = parse(args)
  const unknown = positionals.find((name) => !suites.some((suite) => suite.name === name))
  if (unknown !== undefined) {
    console.error(`Unknown suite ${unknown}; the suites are ${suites.map((suite) => suite.name).join(", ")}`)
    return 2
  }
  if (values.record && (values.short || values.only !== "")) {
    console.error("--record needs complete results; run it without --short and --only")
    return 2
  }
  const isWanted = (suite: Suite): boolean => {
    if (positionals.length > 0) return positionals.includes(suite.name)
    return values.short ? suite.hasShort === true : suite.isExtra !== true
  }
  console.log(`${machineText(thisMachine())}\n`)
  const results: Array<SuiteResult> = []
  const broken: Array<string> = []
  const startedAt = performance.now()
  for (const suite of suites.filter(isWanted)) {
    const suiteStartedAt = performance.now()
    try {
      const result = await measure(suite, positionals.includes(suite.name), values)
      results.push(result)
      console.log(`${table(result)}\n\n${suite.name} took ${secondsSince(suiteStartedAt)} s\n`)
      if (Object.keys(result.broken).length > 0) broken.push(suite.name)
      else if (values.record) {
        record({ date: new Date().toISOString().slice(0, 10), machine: thisMachine(), ...result })
      }
    } catch (error) {
      console.error(`BROKEN: ${suite.name}:`, error)
      broken.push(suite.name)
    }
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`)
  console.log(`${secondsSince(startedAt)} s in all`)
  if (broken.length > 0) console.error(`Broken: ${broken.join(", ")}`)
  return broken.length === 0 ? 0 : 1
}

const secondsSince = (startedAt: number): number => Math.round((performance.now() - startedAt) / 1000)

const measure = (suite: Suite, isNamed: boolean, { short, rounds, only }: Options): Promise<SuiteResult> => {
  const words = only.toLowerCase().split(",")
  return runSuite(suite, {
    isShort: short,
    isNamed,
    // Two rounds of all suites take less than 20 minutes. A suite that is named runs a third round.
    rounds: short ? 1 : Number(rounds ?? (isNamed ? 3 : 2)),
    isChosen: (name) => words.some((word) => name.toLowerCase().includes(word)),
    progress,
    install: (what) => install(what, progress)
  })
}
