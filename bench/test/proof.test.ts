/** The page about reliability says what is kept of the proofs, and a file that is no outcome is told of. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterEach, describe, expect, it } from "vitest"
import { keptOutcomes, type Outcome, write } from "../src/proof/Outcome.ts"
import { page, pageOf, pictureOf, picturesOf } from "../src/proof/Page.ts"
import type { Proof } from "../src/proof/Proof.ts"
import { proofs } from "../src/proof/Proofs.ts"

const folder = mkdtempSync(join(tmpdir(), "weft-outcomes-"))
const folderUrl = pathToFileURL(`${folder}/`)
afterEach(() => rmSync(join(folder, "sample.json"), { force: true }))

const outcome: Outcome = {
  name: "sample",
  date: "2026-01-02",
  command: "npm run proof -- sample --seeds 3",
  revision: "abcdef0",
  minutes: 2.5,
  figures: [
    ["seeds", 12_345],
    ["a | b <c>", 0.123456]
  ],
  notes: ["on a small machine"],
  failures: ["seed 17: an event was gone"],
  panels: [
    {
      title: "memory <MiB>",
      lines: [
        {
          name: "host",
          points: [
            [0, 1],
            [1, 2]
          ]
        }
      ]
    }
  ]
}

const proof: Proof = {
  title: "A sample: of all",
  does: "Does nothing.",
  shows: "nothing.",
  doesNotShow: "anything.",
  run: async () => ({ figures: [], failures: [], notes: [] })
}

describe("the page", () => {
  it("has what is kept, and nothing else: `npm run proof -- docs` writes it", () => {
    expect(readFileSync(page, "utf8")).toBe(pageOf(proofs, keptOutcomes()))
  })

  it("has its pictures", () => {
    for (const [name, picture] of picturesOf(keptOutcomes())) {
      expect(readFileSync(pictureOf(name), "utf8"), name).toBe(picture)
    }
  })

  it("tells figures, how to do it again, and above all what did not hold", () => {
    const text = pageOf(new Map([["sample", proof]]), new Map([["sample", outcome]]))
    expect(text).toContain("| [A sample: of all](#a-sample-of-all) | 2026-01-02 | 2.5 min | **no**: 1 |")
    expect(text).toContain("| seeds | 12,345 |\n| a \\| b \\<c> | 0.12 |")
    expect(text).toContain("What did not hold:\n\n- seed 17: an event was gone")
    expect(text).toContain("`npm run proof -- sample --seeds 3`")
    expect(text).toContain("(reliability/sample.svg)")
  })

  it("says which proofs nothing is kept of", () => {
    const text = pageOf(new Map([["sample", proof]]), new Map())
    expect(text).toContain("`npm run proof -- sample --keep`")
    expect(text).not.toContain("yes")
  })

  it("has no proof twice under one title", () => {
    const titles = [...proofs.values()].map(({ title }) => title)
    expect(new Set(titles).size).toBe(titles.length)
  })
})

describe("what is kept", () => {
  it("is read as it was written, with four digits", () => {
    write(new URL("sample.json", folderUrl), outcome)
    expect(keptOutcomes(folderUrl).get("sample")).toEqual({
      ...outcome,
      figures: [
        ["seeds", 12_345],
        ["a | b <c>", 0.1235]
      ]
    })
  })

  it("has a line for each figure and point", () => {
    write(new URL("sample.json", folderUrl), outcome)
    const lines = readFileSync(join(folder, "sample.json"), "utf8").split("\n")
    expect(lines.map((line) => line.trim())).toEqual(expect.arrayContaining(['["seeds", 12345],', "[0, 1],"]))
  })

  it("is refused when it is something else", () => {
    writeFileSync(join(folder, "sample.json"), '{"name": "sample"}')
    expect(() => keptOutcomes(folderUrl)).toThrow("sample.json is no outcome of a proof")
    writeFileSync(join(folder, "sample.json"), JSON.stringify({ ...outcome, name: "other" }))
    expect(() => keptOutcomes(folderUrl)).toThrow("sample.json is of other")
  })
})

describe("a picture", () => {
  it("has a line for each figure, and lets no name be markup", () => {
    const picture = picturesOf(new Map([["sample", outcome]])).get("sample") ?? ""
    expect([...picture.matchAll(/<path class="line c\d" d="([^"]+)"/g)].map(([, path]) => path)).toEqual([
      "M52 115L400 60"
    ])
    expect(picture).not.toContain("<MiB>")
  })
})
