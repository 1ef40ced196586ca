/** Expressions of Prometheus, parsed with its own grammar. */
import { parser } from "@prometheus-io/lezer-promql"

export interface ParsedExpression {
  /** Positions of syntax errors, from 0. */
  readonly errors: ReadonlyArray<number>
  /** Metrics with the labels of their matchers. */
  readonly selectors: ReadonlyArray<{ readonly metric: string; readonly labels: ReadonlyArray<string> }>
  /** Labels of `by` and `without`. */
  readonly groupings: ReadonlyArray<string>
}

/** Grafana replaces its variables before it sends an expression. */
const withoutVariables = (expression: string): string => expression.replaceAll("$__rate_interval", "5m")

export const parsePromQl = (expression: string): ParsedExpression => {
  const text = withoutVariables(expression)
  const errors: Array<number> = []
  const selectors: Array<{ metric: string; labels: Array<string> }> = []
  const groupings: Array<string> = []
  let isGrouping = false
  parser.parse(text).iterate({
    enter: ({ name, type, from, to }) => {
      const read = text.slice(from, to)
      if (type.isError) errors.push(from)
      if (name === "VectorSelector") selectors.push({ metric: "", labels: [] })
      if (name === "GroupingLabels") isGrouping = true
      const selector = selectors.at(-1)
      if (name === "Identifier" && selector !== undefined) selector.metric = read
      if (name === "LabelName" && isGrouping) groupings.push(read)
      else if (name === "LabelName") selector?.labels.push(read)
    },
    leave: ({ name }) => {
      if (name === "GroupingLabels") isGrouping = false
    }
  })
  return { errors, selectors, groupings }
}
