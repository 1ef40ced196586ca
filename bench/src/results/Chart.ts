/** Draws results as SVG: bars for medians, with a line from the minimum to the maximum of all rounds. */
import { show, showRatio } from "../Report.ts"
import { isRate, type Row } from "../Row.ts"
import type { SuiteResult } from "../Suite.ts"

const size = { bar: 14, row: 22, title: 34, side: 16, bars: 420, value: 170, letter: 6.6 }

export const drawChart = (result: SuiteResult): string => {
  const panels = result.headlines.map((figure) => result.rows.filter((row) => row.figure === figure))
  const names = panels.flat().map(({ contender }) => contender.length)
  const label = Math.ceil(Math.max(0, ...names) * size.letter) + 10
  const width = size.side * 2 + label + size.bars + size.value
  const heights = panels.map((rows) => size.title + rows.length * size.row)
  const height = heights.reduce((sum, each) => sum + each, size.side)
  const tops = heights.map((_, index) => heights.slice(0, index).reduce((sum, each) => sum + each, 0))
  const hasOthers = result.rows.some(({ contender }) => isWeft(contender))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="t d">
<title id="t">${escaped(result.suite)}</title>
<desc id="d">${escaped(result.measures)}; the table next to it has the same figures</desc>
<style>${style}</style>
<rect class="paper" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${panels.map((rows, index) => panel(rows, { top: tops[index] ?? 0, label, hasOthers })).join("\n")}
</svg>
`
}

interface Place {
  readonly top: number
  /** Width of the contenders' names. */
  readonly label: number
  /** True if contenders other than Weft are measured, so that Weft gets its own color. */
  readonly hasOthers: boolean
}

const panel = (rows: ReadonlyArray<Row>, { top, label, hasOthers }: Place): string => {
  const figure = rows[0]?.figure ?? ""
  const most = Math.max(Number.MIN_VALUE, ...rows.map(({ max }) => max))
  const left = size.side + label
  const at = (value: number): number => round((value / most) * size.bars)
  const bars = rows.map((row, index) => {
    const y = top + size.title + index * size.row
    const middle = y + size.bar / 2
    const text = `${show(row.median)}${row.ofLimit === null ? "" : ` (${showRatio(row.ofLimit)})`}`
    return [
      `<text x="${left - 8}" y="${y + 11}" text-anchor="end">${escaped(row.contender)}</text>`,
      `<rect class="${toClass(row, hasOthers)}" x="${left}" y="${y}" width="${at(row.median)}" height="${size.bar}" rx="2"/>`,
      `<path class="spread" d="M${left + at(row.min)} ${middle}H${left + at(row.max)}"/>`,
      `<text x="${round(left + at(row.max)) + 8}" y="${y + 11}">${text}</text>`
    ].join("")
  })
  const better = isRate(figure) ? "more is better" : "less is better"
  const title = `<text class="title" x="${size.side}" y="${top + 24}">${escaped(figure)} <tspan class="dim">${better}</tspan></text>`
  return [title, ...bars].join("\n")
}

const isWeft = (name: string): boolean => /^weft\b/i.test(name)

const toClass = (row: Row, hasOthers: boolean): string => {
  if (row.isLimit) return "limit"
  return !hasOthers || isWeft(row.contender) ? "weft" : "peer"
}

const round = (value: number): number => Math.round(value * 10) / 10

const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

const style = [
  "text{font:12px system-ui,sans-serif;fill:#24292f}",
  ".title{font-weight:600}.dim{font-weight:400;fill:#57606a}",
  ".paper{fill:#f6f8fa;stroke:#d0d7de}",
  ".weft{fill:#0969da}.peer{fill:#c69026}.limit{fill:#8c959f}",
  ".spread{stroke:#24292f;stroke-width:1.5}",
  "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#9da7b1}.paper{fill:#0d1117;stroke:#30363d}",
  ".weft{fill:#388bfd}.peer{fill:#bb8009}.limit{fill:#6e7681}.spread{stroke:#e6edf3}}"
].join("")
