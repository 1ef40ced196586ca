/** Writes figures and pictures of the recorded results into the documentation, between the marks of each suite. */
import { readFileSync, writeFileSync } from "node:fs"
import { drawChart } from "./Chart.ts"
import { machineText } from "./Machine.ts"
import { newestResults, type RecordedResult } from "./Recorded.ts"
import { markdownTable } from "./Tables.ts"

export const page = new URL("../../../docs/benchmarks.md", import.meta.url)

export const pictureUrl = (suite: string): URL => new URL(`pictures/bench-${suite}.svg`, page)

const end = "<!-- end of the figures -->"
const marks = new RegExp(`(<!-- figures of (\\S+) -->\n)[^]*?(${end})`, "g")

/** Inserts figures into the page; sections of suites without results stay unchanged. */
export const pageWith = (text: string, results: ReadonlyMap<string, RecordedResult>): string => {
  const places = new Set([...text.matchAll(marks)].map(([, , suite]) => suite))
  const missing = [...results.keys()].filter((suite) => !places.has(suite))
  if (missing.length > 0) throw new Error(`docs/benchmarks.md has no marks for the figures of ${missing.join(", ")}`)
  return text.replace(marks, (whole: string, begin: string, suite: string) => {
    const result = results.get(suite)
    return result === undefined ? whole : `${begin}\n${renderSection(result)}\n\n${end}`
  })
}

const renderSection = (result: RecordedResult): string =>
  [
    `![${result.measures}](pictures/bench-${result.suite}.svg)`,
    `${result.date}, ${result.rounds} ${result.rounds === 1 ? "round" : "interleaved rounds"}. ${machineText(result.machine)}.${renderLegend(result)}`,
    markdownTable(result),
    Object.entries(result.settings).map(renderSetting).join("\n")
  ].join("\n\n")

/** Renders a setting as a list item; parts that are separated by semicolons become a nested list. */
const renderSetting = ([name, value]: readonly [string, string]): string => {
  const parts = value.split("; ")
  return parts.length === 1 ? `- ${name}: ${value}` : [`- ${name}:`, ...parts.map((part) => `  - ${part}`)].join("\n")
}

const renderLegend = ({ rows, rounds }: RecordedResult): string => {
  const spread = rounds > 1 ? " Medians, ± half of the spread" : ""
  const ratio = rows.some(({ ofLimit }) => ofLimit !== null)
    ? "in brackets: median of the ratios to the limit, round by round"
    : ""
  if (spread === "") return ratio === "" ? "" : ` ${ratio[0]?.toUpperCase()}${ratio.slice(1)}.`
  return `${spread}${ratio === "" ? "" : `; ${ratio}`}.`
}

/** Writes the page and all pictures. */
export const writePage = (): void => {
  const results = newestResults()
  writeFileSync(page, pageWith(readFileSync(page, "utf8"), results))
  for (const [suite, result] of results) writeFileSync(pictureUrl(suite), drawChart(result))
}
