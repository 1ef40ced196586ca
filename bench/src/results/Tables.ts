/** Renders results as Markdown tables. */
import { show, showRatio } from "../Report.ts"
import type { Row } from "../Row.ts"
import type { SuiteResult } from "../Suite.ts"

/** Renders a table whose rows are contenders or figures, whichever are more. */
export const markdownTable = ({ rows }: SuiteResult): string => {
  const contenders = [...new Set(rows.map(({ contender }) => contender))]
  const figures = [...new Set(rows.map(({ figure }) => figure))]
  const cell = (contender: string, figure: string): string =>
    renderCell(rows.find((row) => row.contender === contender && row.figure === figure))
  return contenders.length > figures.length
    ? grid(figures, contenders, (figure, contender) => cell(contender, figure))
    : grid(contenders, figures, cell)
}

const grid = (
  across: ReadonlyArray<string>,
  down: ReadonlyArray<string>,
  cell: (across: string, down: string) => string
): string =>
  [
    `| | ${across.join(" | ")} |`,
    `| --- |${" ---: |".repeat(across.length)}`,
    ...down.map((name) => `| ${name} | ${across.map((title) => cell(title, name)).join(" | ")} |`)
  ].join("\n")

const renderCell = (row: Row | undefined): string => {
  if (row === undefined) return ""
  const spread = row.median === 0 ? 0 : Math.round(((row.max - row.min) / 2 / row.median) * 100)
  return `${show(row.median)}${spread === 0 ? "" : ` ±${spread} %`}${row.ofLimit === null ? "" : ` (${showRatio(row.ofLimit)})`}`
}
