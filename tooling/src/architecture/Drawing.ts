/**
 * Draws the wings as a column of boxes, the last above the first. Imports of the next box are straight arrows. All others
 * are curves to the right of the boxes.
 */
import { rooms } from "../Layout.ts"
import { doors, type Wing } from "./Imports.ts"

const box = { left: 16, width: 560, height: 52, gap: 30, top: 16 }
const right = box.left + box.width
const page = { width: 800 }

const contents: ReadonlyMap<string, string> = new Map([
  ["foundation", "ids, errors, pages, text, time, telemetry"],
  ["memory", "one store for each seam"],
  ["embed", "promises, for hosts without Effect"],
  [doors, "composes the services; next to it are the doors"]
])

export const drawWings = (wings: ReadonlyArray<Wing>): string => {
  const column = [...wings].reverse()
  const height = box.top + column.length * (box.height + box.gap) - box.gap + box.top
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${page.width} ${height}" role="img" aria-labelledby="t d">
<title id="t">Imports between the wings of packages/core/src</title>
<desc id="d">${column.map(describe).join(" ")}</desc>
<style>${style}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>
<rect class="paper" x="0.5" y="0.5" width="${page.width - 1}" height="${height - 1}" rx="8"/>
${column.map(drawBox).join("\n")}
${column.flatMap((_, row) => drawArrows(column, row)).join("\n")}
</svg>
`
}

const describe = ({ name, imports }: Wing): string =>
  `${name} imports ${imports.size === 0 ? "no other wing" : [...imports].sort().join(", ")}.`

const topOf = (row: number): number => box.top + row * (box.height + box.gap)

const drawBox = ({ name }: Wing, row: number): string => {
  const [x, y] = [box.left + 14, topOf(row)]
  return `<rect class="box" x="${box.left}" y="${y}" width="${box.width}" height="${box.height}" rx="6"/>
<text class="name" x="${x}" y="${y + 21}">${name}</text><text class="small" x="${x}" y="${y + 40}">${summarize(name)}</text>`
}

const summarize = (name: string): string =>
  contents.get(name) ?? (rooms.get(name) ?? []).map((layer) => layer.join(", ")).join(" &#8592; ")

const drawArrows = (column: ReadonlyArray<Wing>, row: number): ReadonlyArray<string> =>
  targetsOf(column, row).map((target) => {
    if (target === row + 1) {
      const x = box.left + box.width / 2
      return `<path class="line" d="M${x} ${topOf(row) + box.height}V${topOf(target)}"/>`
    }
    const from = topOf(row) + port(targetsOf(column, row), target, row, "leaves")
    const to = topOf(target) + port(sourcesOf(column, target), row, target, "arrives")
    const reach = right + 38 * (target - row)
    return `<path class="line curve" d="M${right} ${from}C${reach} ${from} ${reach} ${to} ${right} ${to}"/>`
  })

const targetsOf = (column: ReadonlyArray<Wing>, row: number): ReadonlyArray<number> =>
  column.flatMap(({ name }, target) => (column[row]?.imports.has(name) ? [target] : []))

const sourcesOf = (column: ReadonlyArray<Wing>, row: number): ReadonlyArray<number> =>
  column.flatMap(({ imports }, source) => (imports.has(column[row]?.name ?? "") ? [source] : []))

/**
 * Returns the distance of a curve's end from the top of its box. Curves arrive at the upper half of a box and leave from
 * its lower half, the longest outside.
 */
const port = (rows: ReadonlyArray<number>, other: number, own: number, end: "arrives" | "leaves"): number => {
  const curves = rows.filter((row) => Math.abs(row - own) > 1)
  const place = (curves.indexOf(other) + 0.5) / curves.length
  const half = box.height / 2 - 4
  return Math.round(end === "arrives" ? 4 + half * (1 - place) : box.height - 4 - half * place)
}

const style = [
  'text{font:14px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#1f2328}',
  ".name{font-weight:600}",
  ".small{font-size:12px;fill:#57606a}",
  ".paper{fill:#fff;stroke:#d0d7de}",
  ".box{fill:#f3f6fa;stroke:#57606a;stroke-width:1.2}",
  ".line{fill:none;stroke:#57606a;stroke-width:1.4;marker-end:url(#tip)}",
  ".curve{stroke-width:1}",
  ".tip{fill:#57606a}",
  "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9da7b1}.paper{fill:#0d1117;stroke:#30363d}",
  ".box{fill:#161b22;stroke:#8b949e}.line{stroke:#8b949e}.tip{fill:#8b949e}}"
].join("")
