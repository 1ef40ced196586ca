/** Renders the output of a program as the content of a terminal. */
import headless, { type IBufferCell, type IBufferLine } from "@xterm/headless"

// CommonJS whose named exports Node cannot detect.
const { Terminal } = headless

/** Consecutive characters of a line with the same style. */
export interface Span {
  /** From 0. */
  readonly column: number
  readonly text: string
  /** Index of one of the 16 terminal colours, or `#rrggbb`; null for the default colour. */
  readonly colour: number | string | null
  readonly isBold: boolean
  readonly isDim: boolean
}

export type Line = ReadonlyArray<Span>

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** Returns all lines including the scrollback, without empty lines at the end. */
export const renderScreen = async (bytes: Uint8Array, { columns, rows }: Size): Promise<ReadonlyArray<Line>> => {
  const terminal = new Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true })
  await new Promise<void>((resolve) => terminal.write(bytes, resolve))
  const { active } = terminal.buffer
  const lines = Array.from({ length: active.length }, (_, row) => {
    const line = active.getLine(row)
    return line === undefined ? [] : toSpans(line, columns)
  })
  terminal.dispose()
  return lines.slice(0, lines.findLastIndex((line) => line.length > 0) + 1)
}

const toSpans = (line: IBufferLine, columns: number): Line => {
  const spans: Array<Span> = []
  for (let column = 0; column < columns; column++) {
    const cell = line.getCell(column)
    if (cell === undefined || cell.getWidth() === 0) continue
    const style = toStyle(cell)
    const text = cell.getChars() || " "
    const last = spans.at(-1)
    if (last !== undefined && isSame(last, style)) spans[spans.length - 1] = { ...last, text: last.text + text }
    else spans.push({ column, text, ...style })
  }
  const written = spans.findLastIndex(({ text }) => text.trim() !== "")
  return spans
    .slice(0, written + 1)
    .map((span, index) => (index === written ? { ...span, text: span.text.trimEnd() } : span))
}

type Style = Pick<Span, "colour" | "isBold" | "isDim">

const toStyle = (cell: IBufferCell): Style => ({
  colour: cell.isFgDefault() ? null : cell.isFgRGB() ? hex(cell.getFgColor()) : toColour(cell.getFgColor()),
  isBold: cell.isBold() !== 0,
  isDim: cell.isDim() !== 0
})

const isSame = (a: Style, b: Style): boolean => a.colour === b.colour && a.isBold === b.isBold && a.isDim === b.isDim

const hex = (rgb: number): string => `#${rgb.toString(16).padStart(6, "0")}`

const steps = [0, 95, 135, 175, 215, 255]

/** Converts a colour of the 256-colour palette: 16 terminal colours, a cube of 6 × 6 × 6, and 24 greys. */
const toColour = (index: number): number | string => {
  if (index < 16) return index
  if (index >= 232) return hex((8 + (index - 232) * 10) * 0x010101)
  const [red = 0, green = 0, blue = 0] = [36, 6, 1].map((weight) => steps[Math.floor((index - 16) / weight) % 6] ?? 0)
  return hex(red * 0x10000 + green * 0x100 + blue)
}
