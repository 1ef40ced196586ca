/** Tables of records. */
import { CliOutput } from "effect/cli"
import { printable } from "./Printable.ts"

export interface Column<T> {
  readonly title: string
  readonly of: (record: T) => string
  /** May be truncated on a narrow terminal. Values that users copy, such as ids, are never truncated. */
  readonly isFlexible?: boolean
  /** May be omitted on a narrow terminal, the last column first. */
  readonly isExtra?: boolean
  readonly align?: "right"
}

const gap = "  "
/** Minimum width of a truncated column. */
const flexibleMin = 8

/**
 * Returns a line of titles and one line per record. Lines have at most `width` columns unless the ids are longer.
 * Control characters in values become visible.
 */
export const tableLines = <T>(
  columns: ReadonlyArray<Column<T>>,
  records: ReadonlyArray<T>,
  width: number
): ReadonlyArray<string> => {
  const all = columns.map((column) => {
    const cells = [column.title, ...records.map((record) => toOneLine(column.of(record)))]
    return { ...column, cells, width: Math.max(...cells.map(CliOutput.displayWidth)) }
  })
  const shown = shrinkToFit(dropExtras(all, width), width)
  return ["", ...records].map((_, row) =>
    shown
      .map((column) => pad(column.cells[row] ?? "", column.width, column.align))
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

const totalWidth = (widths: ReadonlyArray<number>): number =>
  widths.reduce((sum, one) => sum + one, 0) + gap.length * (widths.length - 1)

const minWidth = ({ isFlexible, width }: Measured): number =>
  isFlexible === true ? Math.min(width, flexibleMin) : width

const dropExtras = (columns: ReadonlyArray<Measured>, width: number): ReadonlyArray<Measured> => {
  if (totalWidth(columns.map(minWidth)) <= width) return columns
  const last = columns.findLastIndex((column) => column.isExtra === true)
  return last === -1 ? columns : dropExtras(columns.toSpliced(last, 1), width)
}

/** Shrinks the widest flexible column, one character at a time, until the table fits. */
const shrinkToFit = (columns: ReadonlyArray<Measured>, width: number): ReadonlyArray<Measured> => {
  const widths = columns.map((column) => column.width)
  for (let excess = totalWidth(widths) - width; excess > 0; excess--) {
    const [widest] = columns
      .map((column, at) => ({ at, width: widths[at] ?? 0, least: minWidth(column) }))
      .filter((column) => column.width > column.least)
      .sort((a, b) => b.width - a.width)
    if (widest === undefined) break
    widths[widest.at] = widest.width - 1
  }
  return columns.map((column, at) => ({ ...column, width: widths[at] ?? column.width }))
}

const pad = (text: string, width: number, align: "right" | undefined): string => {
  const shown = truncate(text, width)
  const padding = " ".repeat(Math.max(0, width - CliOutput.displayWidth(shown)))
  return align === "right" ? padding + shown : shown + padding
}

/** Truncates text to `width` columns, with an ellipsis at its end. */
export const truncate = (text: string, width: number): string => {
  if (CliOutput.displayWidth(text) <= width) return text
  let shown = ""
  for (const character of text) {
    if (CliOutput.displayWidth(shown + character) > width - 1) break
    shown += character
  }
  return `${shown}…`
}

/** Returns one line per field of a record. Nothing is truncated. */
export const fieldLines = (fields: ReadonlyArray<readonly [name: string, value: string]>): ReadonlyArray<string> => {
  const width = Math.max(...fields.map(([name]) => CliOutput.displayWidth(name)))
  return fields.map(([name, value]) => `${pad(name, width, undefined)}${gap}${toOneLine(value)}`.trimEnd())
}

/** Makes control characters and line feeds visible. */
const toOneLine = (text: string): string => printable(text).replaceAll("\n", "⏎").replaceAll("\t", " ")
