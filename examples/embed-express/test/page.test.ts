/** Checks the size of the examples, and that docs/embedding.md quotes them exactly. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { sourcePath } from "./HostProcess.ts"

const examples = ["embed-express", "embed-fastify", "embed-hono", "embed-effect"]
const readLines = (example: string): ReadonlyArray<string> =>
  readFileSync(sourcePath(example), "utf8").trimEnd().split("\n")

/** Returns the lines that Weft adds to the application: regions and single lines marked with `weft`. */
const listWeftLines = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  let isWithin = false
  return lines.filter((line) => {
    if (line === "// #region weft") isWithin = true
    else if (line === "// #endregion") isWithin = false
    else return isWithin || / \/\/ weft\b/.test(line)
    return false
  })
}

describe.each(examples)("%s", (example) => {
  it("has at most 60 lines, of which at most 20 mount Weft", () => {
    const lines = readLines(example)
    expect(lines.length).toBeLessThanOrEqual(60)
    const added = listWeftLines(lines)
    expect(added.length).toBeGreaterThan(5)
    expect(added.length).toBeLessThanOrEqual(20)
    const parts = example === "embed-effect" ? ["layer(", "Http.layer"] : ["createWeft(", "weft."]
    for (const name of [...parts, "tenants.ensure", "publish"]) expect(added.join("\n")).toContain(name)
  })
})

describe("docs/embedding.md", () => {
  const page = readFileSync(new URL("../../../docs/embedding.md", import.meta.url), "utf8")
  const quoted = page.matchAll(/<!-- run by examples\/embed-express\/test\/page\.test\.ts -->\n```ts\n([\s\S]*?)```/g)
  const blocks = [...quoted].map(([, code = ""]) => code)
  const sources = examples.map((example) => `${readLines(example).join("\n")}\n`)

  it("quotes each example", () => {
    expect(blocks.length).toBeGreaterThanOrEqual(8)
    for (const source of sources) expect(blocks.some((block) => source.includes(block))).toBe(true)
  })

  it.each(blocks)("quotes an example exactly: block %#", (block) => {
    expect(sources.filter((source) => source.includes(block))).not.toEqual([])
  })
})
