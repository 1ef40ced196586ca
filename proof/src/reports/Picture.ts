/** Draws figures over time as SVG: one panel per kind, two panels per row. */
import { show } from "@weft/bench/instruments"
import type { Line, Panel } from "../Proof.ts"

type Panels = ReadonlyArray<PlainPanel>
type PlainPanel = Pick<Panel, "title" | "lines">

const size = { side: 16, panel: 400, plot: 110, axis: 52, title: 30, legend: 30, letters: 52, foot: 26, gap: 24 }
const colours = 6

export const drawPanels = (name: string, panels: Panels): string => {
  const rows = Math.ceil(panels.length / 2)
  const width = size.side * 2 + size.panel * 2 + size.gap
  const height = rows * panelHeight + size.side
  const drawn = panels.map((panel, index) => {
    const x = size.side + (index % 2) * (size.panel + size.gap)
    return `<g transform="translate(${x} ${Math.floor(index / 2) * panelHeight})">${drawPanel(panel)}</g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="t d">
<title id="t">${escaped(name)}</title>
<desc id="d">over time, in minutes: ${escaped(panels.map(({ title }) => title).join("; "))}</desc>
<style>${style}</style>
<rect class="paper" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${drawn.join("\n")}
</svg>
`
}

const panelHeight = size.title + size.legend + size.plot + size.foot

const drawPanel = ({ title, lines }: PlainPanel): string => {
  const points = lines.flatMap((line) => line.points)
  const lastMinute = Math.max(Number.MIN_VALUE, ...points.map(([minute]) => minute))
  const most = roundedUp(Math.max(Number.MIN_VALUE, ...points.map(([, value]) => value)))
  const top = size.title + size.legend
  const plotWidth = size.panel - size.axis
  const x = (minute: number): number => tenth(size.axis + (minute / lastMinute) * plotWidth)
  const y = (value: number): number => tenth(top + size.plot * (1 - value / most))
  const grid = [0, 0.5, 1].map(
    (share) =>
      `<path class="grid" d="M${size.axis} ${y(most * share)}H${size.panel}"/>` +
      `<text class="dim" x="${size.axis - 6}" y="${y(most * share) + 4}" text-anchor="end">${share === 0 ? 0 : show(most * share)}</text>`
  )
  const foot = `<text class="dim" x="${size.panel}" y="${top + size.plot + 16}" text-anchor="end">${show(lastMinute)} min</text>`
  return [
    `<text class="title" x="0" y="20">${escaped(title)}</text>`,
    legend(lines),
    ...grid,
    foot,
    ...lines.map(({ points }, index) => {
      const path = points.map(([minute, value]) => `${x(minute)} ${y(value)}`).join("L")
      return path === "" ? "" : `<path class="line c${index % colours}" d="M${path}"/>`
    })
  ].join("")
}

const legend = (lines: ReadonlyArray<Line>): string => {
  const rows: Array<{ letters: number; readonly names: Array<string> }> = []
  lines.forEach(({ name }, index) => {
    const last = rows.at(-1)
    const row = last !== undefined && last.letters + name.length <= size.letters ? last : { letters: 0, names: [] }
    if (row !== last) rows.push(row)
    row.letters += name.length + 4
    row.names.push(`<tspan class="f${index % colours}">■</tspan> ${escaped(name)}`)
  })
  const text = rows.map(
    ({ names }, index) =>
      `<text class="dim" x="${size.axis}" y="${size.title + 6 + index * 14}">${names.join(" &#160; ")}</text>`
  )
  return text.join("")
}

/** Rounds up to a number with one digit, for the axis. */
const roundedUp = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 4, 5, 8].find((digit) => digit * power >= value) ?? 10) * power
}

const tenth = (value: number): number => Math.round(value * 10) / 10

const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

const light = ["#0969da", "#bc4c00", "#1a7f37", "#8250df", "#bf3989", "#57606a"]
const dark = ["#58a6ff", "#f0883e", "#3fb950", "#bc8cff", "#f778ba", "#9da7b1"]
const classes = (palette: ReadonlyArray<string>): string =>
  palette.map((colour, index) => `.c${index}{stroke:${colour}}.f${index}{fill:${colour}}`).join("")

const style = [
  "text{font:12px system-ui,sans-serif;fill:#24292f}",
  ".title{font-weight:600}.dim{font-size:11px;fill:#57606a}",
  ".paper{fill:#f6f8fa;stroke:#d0d7de}.grid{stroke:#d0d7de}.line{fill:none;stroke-width:1.5;stroke-linejoin:round}",
  classes(light),
  "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#9da7b1}.paper{fill:#0d1117;stroke:#30363d}",
  `.grid{stroke:#30363d}${classes(dark)}}`
].join("")
