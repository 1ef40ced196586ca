/** Suites measure contenders alternately, report failures, and compare figures within a round. */
import { describe, expect, it } from "vitest"
import { table } from "../src/Report.ts"
import { isRate } from "../src/Row.ts"
import { type Contender, type RunOptions, runSuite, type Suite } from "../src/Suite.ts"

/** Returns a contender with these figures, one per round; an error is thrown instead of returned. */
const contender = (name: string, values: ReadonlyArray<number | Error>, more: Partial<Contender> = {}): Contender => {
  const left = [...values]
  return {
    name,
    measure: async () => {
      const value = left.shift()
      if (value === undefined || value instanceof Error) throw value
      return { "calls per second": value }
    },
    ...more
  }
}

const run = async (contenders: ReadonlyArray<Contender>, options: Partial<RunOptions> = {}) => {
  const messages: Array<string> = []
  const closed: Array<string> = []
  const suite: Suite = {
    name: "sample",
    measures: "nothing",
    open: async () => ({ contenders, settings: { disk: "none" }, close: async () => void closed.push("closed") })
  }
  const result = await runSuite(suite, {
    rounds: 3,
    isShort: false,
    isNamed: false,
    isChosen: () => true,
    progress: (text) => void messages.push(text),
    install: async (what) => void messages.push(`install ${what}`),
    ...options
  })
  return { result, messages, closed }
}

describe("A suite", () => {
  it("measures alternately and reports progress", async () => {
    const { messages, closed } = await run([contender("a", [1, 1]), contender("b", [1, 1])], { rounds: 2 })
    expect(messages.map((text) => text.replace(/, about .*/, ""))).toEqual([
      "sample: round 1/2, a",
      "sample: round 1/2, b",
      "sample: round 2/2, a",
      "sample: round 2/2, b"
    ])
    expect(closed).toEqual(["closed"])
  })

  it("compares with the limit round by round", async () => {
    const { result } = await run([
      contender("limit", [100, 10, 1000], { isLimit: true }),
      contender("weft", [50, 2, 900])
    ])
    expect(result.rows).toEqual([
      {
        ...{ contender: "limit", figure: "calls per second", isLimit: true },
        ...{ median: 100, min: 10, max: 1000, ofLimit: null }
      },
      {
        ...{ contender: "weft", figure: "calls per second", isLimit: false },
        ...{ median: 50, min: 2, max: 900, ofLimit: 0.5 }
      }
    ])
  })

  it("compares with the limit that a contender names", async () => {
    const { result } = await run(
      [
        contender("slow disk", [10], { isLimit: true }),
        contender("fast disk", [100], { isLimit: true }),
        contender("weft, fast", [50], { limit: "fast disk" }),
        contender("weft, slow", [5])
      ],
      { rounds: 1 }
    )
    expect(result.rows.map(({ ofLimit }) => ofLimit)).toEqual([null, null, 0.5, 0.5])
  })

  it("continues without a contender that fails, and reports it", async () => {
    const { result, messages, closed } = await run([
      contender("breaks", [1, new Error("no disk"), 1]),
      contender("weft", [1, 2, 3])
    ])
    expect(result.broken).toEqual({ breaks: "no disk" })
    expect(result.rows.map((row) => [row.contender, row.median])).toEqual([["weft", 2]])
    expect(messages).toContain("sample: breaks is broken: no disk")
    expect(messages.filter((text) => text.includes("breaks"))).toHaveLength(3)
    expect(closed).toEqual(["closed"])
    expect(table(result)).toContain("BROKEN: breaks: no disk")
  })

  it("installs packages only for selected contenders", async () => {
    const contenders = [contender("weft", [1]), contender("n8n", [1], { needs: "n8n" })]
    expect((await run(contenders, { rounds: 1, isChosen: (name) => name === "weft" })).messages).not.toContain(
      "install n8n"
    )
    expect((await run(contenders.slice(1), { rounds: 1 })).messages).toContain("install n8n")
  })
})

describe("A figure", () => {
  it("is a rate if its name ends with a unit of rates", () => {
    expect(["GET: req/s", "finished per second"].map(isRate)).toEqual([true, true])
    expect(["p99 ms", "events/s at its end, ms"].map(isRate)).toEqual([false, false])
  })
})
