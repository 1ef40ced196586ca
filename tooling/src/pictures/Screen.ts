/** What a terminal shows after a program wrote to it. */
import headless, { type IBufferCell, type IBufferLine } from "@xterm/headless"

// It is CommonJS whose names Node does not see.
const { Terminal } = headless

/** Characters of one line in one style. */
export interface Span {
  /** From 0. */
  readonly column: number
  readonly text: string
  /** Of the 16 colours of terminals, or `#rrggbb`; null: the terminal's own. */
  readonly colour: number | string | null
  readonly isBold: boolean
  readonly isDim: boolean
}

export type Line = ReadonlyArray<Span>

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** All lines that were written, those that scrolled away included; without empty ones at the end. */
export const screenOf = async (bytes: Uint8Array, { columns, rows }: Size): Promise<ReadonlyArray<Line>> => {
  const terminal = new Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true })
  await new Promise<void>((resolve) => terminal.write(bytes, resolve))
  const { active } = terminal.buffer
  const lines = Array.from({ length: active.length }, (_, row) => {
    const line = active.getLine(row)
    return line === undefined ? [] : spansOf(line, columns)
  })
  terminal.dispose()
  return lines.slice(0, lines.findLastIndex((line) => line.length > 0) + 1)
}

const spansOf = (line: IBufferLine, columns: number): Line => {
  const spans: Array<Span> = []
  for (let column = 0; column < columns; column++) {
    const cell = line.getCell(column)
    if (cell === undefined || cell.getWidth() === 0) continue
    const style = styleOf(cell)
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

const styleOf = (cell: IBufferCell): Style => ({
  colour: cell.isFgDefault() ? null : cell.isFgRGB() ? hex(cell.getFgColor()) : paletteOf(cell.getFgColor()),
  isBold: cell.isBold() !== 0,
  isDim: cell.isDim() !== 0
})

const isSame = (a: Style, b: Style): boolean => a.colour === b.colour && a.isBold === b.isBold && a.isDim === b.isDim

const hex = (rgb: number): string => `#${rgb.toString(16).padStart(6, "0")}`

const steps = [0, 95, 135, 175, 215, 255]

/** The colours after the first 16: a cube of 6 × 6 × 6, and greys. */
const paletteOf = (index: number): number | string => {
  if (index < 16) return index
  if (index >= 232) return hex((8 + (index - 232) * 10) * 0x010101)
  const [red = 0, green = 0, blue = 0] = [36, 6, 1].map((weight) => steps[Math.floor((index - 16) / weight) % 6] ?? 0)
  return hex(red * 0x10000 + green * 0x100 + blue)
}
