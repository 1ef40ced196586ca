/** The examples keep their promises of size, and docs/embedding.md shows lines that are theirs. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { sourceOf } from "./HostProcess.ts"

const examples = ["embed-express", "embed-fastify", "embed-hono", "embed-effect"]
const linesOf = (example: string): ReadonlyArray<string> =>
  readFileSync(sourceOf(example), "utf8").trimEnd().split("\n")

/** What Weft adds to the application: what lies in regions of its own, and lines that say so. */
const weftLinesOf = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  let isWithin = false
  return lines.filter((line) => {
    if (line === "// #region weft") isWithin = true
    else if (line === "// #endregion") isWithin = false
    else return isWithin || / \/\/ weft\b/.test(line)
    return false
  })
}

describe.each(examples)("%s", (example) => {
  it("is an application of at most 60 lines, into which Weft was mounted with at most 20", () => {
    const lines = linesOf(example)
    expect(lines.length).toBeLessThanOrEqual(60)
    const added = weftLinesOf(lines)
    expect(added.length).toBeGreaterThan(10)
    expect(added.length).toBeLessThanOrEqual(20)
    for (const name of ["Sqlite.stores", "Sandbox.isolated", "Http.", "tenants.ensure", "publish"]) {
      expect(added.join("\n")).toContain(name)
    }
  })
})

describe("docs/embedding.md", () => {
  const page = readFileSync(new URL("../../../docs/embedding.md", import.meta.url), "utf8")
  const taken = page.matchAll(/<!-- run by examples\/embed-express\/test\/page\.test\.ts -->\n```ts\n([\s\S]*?)```/g)
  const blocks = [...taken].map(([, code = ""]) => code)
  const sources = examples.map((example) => `${linesOf(example).join("\n")}\n`)

  it("shows each framework", () => {
    expect(blocks.length).toBeGreaterThanOrEqual(8)
    for (const source of sources) expect(blocks.some((block) => source.includes(block))).toBe(true)
  })

  it.each(blocks)("shows lines of an example: %#", (block) => {
    expect(sources.filter((source) => source.includes(block))).not.toEqual([])
  })
})
