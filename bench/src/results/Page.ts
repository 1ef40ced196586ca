/** The figures of the documentation: between the marks of each suite, and its picture. All of it is made of what is kept. */
import { readFileSync, writeFileSync } from "node:fs"
import { chartOf } from "./Chart.ts"
import { type KeptResult, newestResults } from "./Kept.ts"
import { machineText } from "./Machine.ts"
import { markdownTable } from "./Tables.ts"

export const page = new URL("../../../docs/benchmarks.md", import.meta.url)

export const pictureOf = (suite: string): URL => new URL(`pictures/bench-${suite}.svg`, page)

const end = "<!-- end of the figures -->"
const marks = new RegExp(`(<!-- figures of (\\S+) -->\n)[^]*?(${end})`, "g")

/** The page with the figures of these results; where there are none, what stands there stays. */
export const pageWith = (text: string, results: ReadonlyMap<string, KeptResult>): string => {
  const places = new Set([...text.matchAll(marks)].map(([, , suite]) => suite))
  const missing = [...results.keys()].filter((suite) => !places.has(suite))
  if (missing.length > 0) throw new Error(`The page has no place for the figures of ${missing.join(", ")}`)
  return text.replace(marks, (whole: string, begin: string, suite: string) => {
    const result = results.get(suite)
    return result === undefined ? whole : `${begin}\n${sectionOf(result)}\n\n${end}`
  })
}

const sectionOf = (result: KeptResult): string =>
  [
    `![${result.measures}](pictures/bench-${result.suite}.svg)`,
    `${result.date}, ${result.rounds} ${result.rounds === 1 ? "round" : "rounds in turns"}. ${machineText(result.machine)}.${legendOf(result)}`,
    markdownTable(result),
    Object.entries(result.settings)
      .map(([name, value]) => `- ${name}: ${value}`)
      .join("\n")
  ].join("\n\n")

const legendOf = ({ rows, rounds }: KeptResult): string => {
  const spread = rounds > 1 ? " Medians, ± half of the spread" : ""
  const ratio = rows.some(({ ofLimit }) => ofLimit !== null) ? "in brackets the ratio to the limit, round by round" : ""
  if (spread === "") return ratio === "" ? "" : ` ${ratio[0]?.toUpperCase()}${ratio.slice(1)}.`
  return `${spread}${ratio === "" ? "" : `; ${ratio}`}.`
}

/** Writes page and pictures anew. */
export const writePage = (): void => {
  const results = newestResults()
  writeFileSync(page, pageWith(readFileSync(page, "utf8"), results))
  for (const [suite, result] of results) writeFileSync(pictureOf(suite), chartOf(result))
}
