/** The documentation shows the recorded figures. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { drawChart } from "../src/results/Chart.ts"
import { page, pageWith, pictureUrl } from "../src/results/Page.ts"
import { newestResults, type RecordedResult } from "../src/results/Recorded.ts"
import { markdownTable } from "../src/results/Tables.ts"

const row = (contender: string, figure: string, median: number, ofLimit: number | null = null) => ({
  ...{ contender, figure, median, min: median * 0.9, max: median * 1.1 },
  ...{ isLimit: contender === "limit", ofLimit }
})

const result: RecordedResult = {
  suite: "sample",
  measures: "calls <of> nothing",
  date: "2026-01-02",
  machine: { node: "24.0.0", processors: "2 × some processor", memoryGiB: 4, kernel: "linux 6.0" },
  settings: { disk: "none" },
  rounds: 3,
  headlines: ["calls/s"],
  rows: [
    ...[row("limit", "calls/s", 12_345), row("limit", "p99 ms", 1)],
    ...[row("Weft", "calls/s", 6000, 0.486), row("Weft", "p99 ms", 2, 2)]
  ],
  broken: {}
}

describe("The page", () => {
  it("equals the output of `npm run bench -- docs`", () => {
    const text = readFileSync(page, "utf8")
    expect(pageWith(text, newestResults())).toBe(text)
  })

  it("has up-to-date pictures", () => {
    for (const [suite, recorded] of newestResults()) {
      expect(readFileSync(pictureUrl(suite), "utf8"), suite).toBe(drawChart(recorded))
    }
  })

  it("keeps the text around the marks, and sections of suites without results", () => {
    const text =
      "a\n<!-- figures of sample -->\nold\n<!-- end of the figures -->\nb\n<!-- figures of other -->\nstays\n<!-- end of the figures -->\n"
    const written = pageWith(text, new Map([["sample", result]]))
    expect(written).toMatch(/^a\n<!-- figures of sample -->\n\n!\[calls <of> nothing\]\(pictures\/bench-sample\.svg\)/)
    expect(written).toContain("2026-01-02, 3 interleaved rounds. Node 24.0.0, 2 × some processor, 4 GiB, linux 6.0.")
    expect(written).not.toContain("old")
    expect(written).toMatch(/- disk: none\n\n<!-- end of the figures -->\nb\n<!-- figures of other -->\nstays\n/)
    expect(pageWith(written, new Map([["sample", result]]))).toBe(written)
  })

  it("must have marks for every result", () => {
    expect(() => pageWith("nothing", new Map([["sample", result]]))).toThrow("no marks for the figures of sample")
  })
})

describe("A table", () => {
  it("has medians, spread and ratio", () => {
    expect(markdownTable(result)).toBe(
      [
        "| | limit | Weft |",
        "| --- | ---: | ---: |",
        "| calls/s | 12,345 ±10 % | 6,000 ±10 % (0.49) |",
        "| p99 ms | 1.00 ±10 % | 2.00 ±10 % (2.00) |"
      ].join("\n")
    )
  })

  it("has contenders as rows if there are more of them than figures", () => {
    const rows = ["a", "b", "c"].map((name) => row(name, "calls/s", 1000))
    expect(markdownTable({ ...result, rows }).split("\n")[0]).toBe("| | calls/s |")
  })
})

describe("A chart", () => {
  it("shows the headlines, with bars as long as the medians", () => {
    const svg = drawChart(result)
    expect(svg).toContain("calls/s")
    expect(svg).not.toContain("p99 ms")
    const widths = [...svg.matchAll(/<rect class="(limit|weft|peer)"[^>]* width="([\d.]+)"/g)]
    expect(widths.map(([, kind]) => kind)).toEqual(["limit", "weft"])
    expect(Number(widths[1]?.[2]) / Number(widths[0]?.[2])).toBeCloseTo(6000 / 12_345, 2)
  })

  it("escapes names", () => {
    const rows = [row("<b>", "calls/s", 1)]
    expect(drawChart({ ...result, rows })).not.toMatch(/<b>|<of>/)
  })
})
