/** Shows results as a table on a terminal. */
import type { SuiteResult } from "./Suite.ts"

export const table = (result: SuiteResult): string => {
  const head = ["", "figure", "median", "min", "max", "of the limit"]
  const lines = result.rows.map((row) => [
    row.contender,
    row.figure,
    show(row.median),
    show(row.min),
    show(row.max),
    row.ofLimit === null ? "" : showRatio(row.ofLimit)
  ])
  const widths = head.map((title, column) => Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)))
  const format = (cells: ReadonlyArray<string>): string =>
    cells
      .map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
  return [
    `${result.suite}: ${result.measures}`,
    ...Object.entries(result.settings).map(([name, value]) => `${name}: ${value}`),
    `${result.rounds} ${result.rounds === 1 ? "round" : "interleaved rounds"}`,
    "",
    format(head),
    ...lines.map(format),
    ...Object.entries(result.broken).map(([name, message]) => `BROKEN: ${name}: ${message}`)
  ].join("\n")
}

/** Formats a number with at least three significant digits. */
export const show = (value: number): string =>
  value >= 1000 ? Math.round(value).toLocaleString("en-US") : value >= 10 ? value.toFixed(1) : value.toFixed(2)

/** Formats a ratio with two significant digits. */
export const showRatio = (ratio: number): string => (ratio >= 0.1 ? ratio.toFixed(2) : ratio.toPrecision(2))
