/** Syntax of the expressions that operators copy: of the alerts, the dashboard and the documentation. */
import { describe, expect, it } from "vitest"
import { readDocumentedExpressions, readExpressions } from "./Files.ts"
import { parsePromQl } from "./PromQl.ts"

describe("parsePromQl", () => {
  it("finds metrics, labels and errors", () => {
    const text =
      'sum by (route) (rate(weft_a{status=~"5..", route!="/x"}[$__rate_interval])) > min_over_time(weft_b[1m])'
    expect(parsePromQl(text)).toEqual({
      errors: [],
      selectors: [
        { metric: "weft_a", labels: ["status", "route"] },
        { metric: "weft_b", labels: [] }
      ],
      groupings: ["route"]
    })
    for (const wrong of [
      "sum(rate(weft_a[5m])",
      "rate(weft_a[5x])",
      'weft_a{status="200"',
      "weft_a >",
      "by (a) weft_b"
    ]) {
      expect(parsePromQl(wrong).errors, wrong).not.toEqual([])
    }
  })
})

describe("the expressions", () => {
  it("of the alerts and the dashboard are valid", () => {
    const expressions = readExpressions()
    expect(expressions.length).toBeGreaterThan(30)
    for (const [name, text] of expressions) {
      const { errors, selectors } = parsePromQl(text)
      expect(errors, `${name}: ${text}`).toEqual([])
      expect(selectors.length, `${name}: ${text}`).toBeGreaterThan(0)
    }
  })

  it("of the documentation are valid", () => {
    const expressions = readDocumentedExpressions()
    expect(expressions.length).toBeGreaterThan(15)
    for (const [name, text] of expressions) expect(parsePromQl(text).errors, `${name}: ${text}`).toEqual([])
  })
})
