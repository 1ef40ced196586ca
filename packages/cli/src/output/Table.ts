/** Records as lines of columns. */
import { CliOutput } from "effect/cli"
import { printable } from "./Printable.ts"

export interface Column<T> {
  readonly title: string
  readonly of: (record: T) => string
  /** May be cut where the terminal is too narrow. What is copied from the table, such as ids, may not. */
  readonly isFlexible?: boolean
  /** Left out where the terminal is too narrow, the last one first. */
  readonly isExtra?: boolean
  readonly align?: "right"
}

const gap = "  "
/** Columns are not cut below this. */
const flexibleMin = 8

/**
 * A line of titles and a line of each record, of at most `width` characters where ids leave room for that. Control
 * characters in the values become visible.
 */
export const tableLines = <T>(
  columns: ReadonlyArray<Column<T>>,
  records: ReadonlyArray<T>,
  width: number
): ReadonlyArray<string> => {
  const all = columns.map((column) => {
    const cells = [column.title, ...records.map((record) => onOneLine(column.of(record)))]
    return { ...column, cells, width: Math.max(...cells.map(CliOutput.displayWidth)) }
  })
  const shown = narrowed(withoutExtras(all, width), width)
  return ["", ...records].map((_, row) =>
    shown
      .map((column) => aligned(column.cells[row] ?? "", column.width, column.align))
      .join(gap)
      .trimEnd()
  )
}

interface Measured {
  readonly isFlexible?: boolean
  readonly isExtra?: boolean
  readonly align?: "right"
  readonly cells: ReadonlyArray<string>
  readonly width: number
}

const totalOf = (widths: ReadonlyArray<number>): number =>
  widths.reduce((sum, one) => sum + one, 0) + gap.length * (widths.length - 1)

const leastOf = ({ isFlexible, width }: Measured): number =>
  isFlexible === true ? Math.min(width, flexibleMin) : width

const withoutExtras = (columns: ReadonlyArray<Measured>, width: number): ReadonlyArray<Measured> => {
  if (totalOf(columns.map(leastOf)) <= width) return columns
  const last = columns.findLastIndex((column) => column.isExtra === true)
  return last === -1 ? columns : withoutExtras(columns.toSpliced(last, 1), width)
}

/** Takes what is too much from the widest of the flexible columns, one after the other. */
const narrowed = (columns: ReadonlyArray<Measured>, width: number): ReadonlyArray<Measured> => {
  const widths = columns.map((column) => column.width)
  for (let excess = totalOf(widths) - width; excess > 0; excess--) {
    const [widest] = columns
      .map((column, at) => ({ at, width: widths[at] ?? 0, least: leastOf(column) }))
      .filter((column) => column.width > column.least)
      .sort((a, b) => b.width - a.width)
    if (widest === undefined) break
    widths[widest.at] = widest.width - 1
  }
  return columns.map((column, at) => ({ ...column, width: widths[at] ?? column.width }))
}

const aligned = (text: string, width: number, align: "right" | undefined): string => {
  const shown = cut(text, width)
  const padding = " ".repeat(Math.max(0, width - CliOutput.displayWidth(shown)))
  return align === "right" ? padding + shown : shown + padding
}

/** With an ellipsis as its last character, if it is too long. */
export const cut = (text: string, width: number): string => {
  if (CliOutput.displayWidth(text) <= width) return text
  let shown = ""
  for (const character of text) {
    if (CliOutput.displayWidth(shown + character) > width - 1) break
    shown += character
  }
  return `${shown}…`
}

/** Names and values below each other, for one record. Nothing is cut. */
export const fieldLines = (fields: ReadonlyArray<readonly [name: string, value: string]>): ReadonlyArray<string> => {
  const width = Math.max(...fields.map(([name]) => CliOutput.displayWidth(name)))
  return fields.map(([name, value]) => `${aligned(name, width, undefined)}${gap}${onOneLine(value)}`.trimEnd())
}

/** Control characters made visible, ends of lines too. */
export const onOneLine = (text: string): string => printable(text).replaceAll("\n", "⏎").replaceAll("\t", " ")
