import { describe, expect, it } from "vitest"
import { compareWithBaseline, shrink } from "../../src/english/Baseline.ts"

const finding = (file: string, rule: string, line = 1) => ({ file, rule, line, column: 1, message: "", say: "" })

describe("the baseline of known findings", () => {
  const baseline = { "old.ts": { words: 2 } }

  it("passes known findings and reports the file and rule that has more", () => {
    const known = [finding("old.ts", "words"), finding("old.ts", "words", 2)]
    expect(compareWithBaseline(["old.ts"], known, baseline)).toEqual({ fresh: [], known: 2, stale: [] })
    const more = [...known, finding("old.ts", "words", 3), finding("old.ts", "length")]
    expect(compareWithBaseline(["old.ts"], more, baseline).fresh).toEqual(more)
  })

  it("reports a finding in a file that is not listed", () => {
    const fresh = [finding("new.ts", "words")]
    expect(compareWithBaseline(["new.ts"], fresh, baseline)).toEqual({ fresh, known: 0, stale: [] })
  })

  it("reports a file that has improved, and shrinks to its count", () => {
    const left = [finding("old.ts", "words")]
    expect(compareWithBaseline(["old.ts"], left, baseline).stale).toEqual(["old.ts"])
    expect(shrink(new Set(["old.ts"]), left, baseline)).toEqual({ "old.ts": { words: 1 } })
  })

  it("never grows, and drops files that are gone", () => {
    const more = [1, 2, 3].map((line) => finding("old.ts", "words", line))
    expect(shrink(new Set(["old.ts"]), more, baseline)).toEqual(baseline)
    expect(shrink(new Set(), [], baseline)).toEqual({})
  })
})
