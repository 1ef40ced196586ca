/** Renders a screen as SVG with selectable, searchable and accessible text, for light and dark colour schemes. */
import type { Line, Span } from "./Screen.ts"

const cell = { width: 7.8, height: 18, fontSize: 13 }
const margin = { side: 16, top: 44, bottom: 16 }

/** Terminal colours with enough contrast on white and on black. Colours 8 to 15 use the same values. */
const light = ["#24292f", "#b42318", "#1a7f37", "#8a5a00", "#0550ae", "#8250df", "#0b7285", "#57606a"]
const dark = ["#8b949e", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#c9d1d9"]

export interface PictureOptions {
  readonly title: string
  /** Text alternative for screen readers. */
  readonly description: string
  readonly columns: number
}

export const renderPicture = (lines: ReadonlyArray<Line>, { title, description, columns }: PictureOptions): string => {
  const width = Math.ceil(columns * cell.width + 2 * margin.side)
  const height = margin.top + lines.length * cell.height + margin.bottom
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="t d">
<title id="t">${escaped(title)}</title>
<desc id="d">${escaped(description)}</desc>
<style>${style}</style>
<rect class="paper" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<g class="dots"><circle cx="20" cy="20" r="5"/><circle cx="38" cy="20" r="5"/><circle cx="56" cy="20" r="5"/></g>
<text class="title" x="${width / 2}" y="25" text-anchor="middle">${escaped(title)}</text>
<g>
${lines.flatMap((line, row) => (line.length === 0 ? [] : [renderLine(line, row)])).join("\n")}
</g>
</svg>
`
}

/** Renders a line. Each span has an explicit position and width, so that columns align in every font. */
const renderLine = (line: Line, row: number): string => {
  const y = margin.top + row * cell.height + cell.fontSize
  return `<text y="${y}">${line.map(renderSpan).join("")}</text>`
}

const renderSpan = (span: Span): string => {
  const classes = [
    ...(typeof span.colour === "number" ? [`c${span.colour % 8}`] : []),
    ...(span.isBold ? ["bold"] : []),
    ...(span.isDim ? ["dim"] : [])
  ]
  const attributes = [
    `x="${round(margin.side + span.column * cell.width)}"`,
    `textLength="${round([...span.text].length * cell.width)}"`,
    ...(classes.length === 0 ? [] : [`class="${classes.join(" ")}"`]),
    ...(typeof span.colour === "string" ? [`fill="${span.colour}"`] : [])
  ]
  return `<tspan ${attributes.join(" ")}>${escaped(span.text)}</tspan>`
}

const round = (value: number): number => Math.round(value * 10) / 10

const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

const colourRules = (colours: ReadonlyArray<string>): string =>
  colours.map((colour, index) => `.c${index}{fill:${colour}}`).join("")

const style = [
  `text{font:${cell.fontSize}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#24292f;white-space:pre}`,
  ".title{font:12px system-ui,sans-serif;fill:#57606a}",
  ".paper{fill:#f6f8fa;stroke:#d0d7de}",
  ".dots{fill:#d0d7de}",
  ".bold{font-weight:600}",
  ".dim{opacity:.7}",
  colourRules(light),
  "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.title{fill:#9da7b1}.paper{fill:#0d1117;stroke:#30363d}",
  `.dots{fill:#30363d}${colourRules(dark)}}`
].join("")
