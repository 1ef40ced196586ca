/** The page about reliability shows the recorded outcomes, and invalid outcomes are rejected. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterEach, describe, expect, it } from "vitest"
import type { Proof } from "../src/Proof.ts"
import { proofs } from "../src/Proofs.ts"
import { type Outcome, recordedOutcomes, write } from "../src/reports/Outcome.ts"
import { buildPage, drawPictures, page, pictureUrl } from "../src/reports/Page.ts"

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

describe("The page", () => {
  it("equals the output of `npm run proof -- docs`", () => {
    expect(readFileSync(page, "utf8")).toBe(buildPage(proofs, recordedOutcomes()))
  })

  it("has up-to-date pictures", () => {
    for (const [name, picture] of drawPictures(recordedOutcomes())) {
      expect(readFileSync(pictureUrl(name), "utf8"), name).toBe(picture)
    }
  })

  it("shows figures, the command and violations", () => {
    const text = buildPage(new Map([["sample", proof]]), new Map([["sample", outcome]]))
    expect(text).toContain("| [A sample: of all](#a-sample-of-all) | 2026-01-02 | 2.5 min | **no**: 1 |")
    expect(text).toContain("| seeds | 12,345 |\n| a \\| b \\<c> | 0.12 |")
    expect(text).toContain("Violations:\n\n- seed 17: an event was gone")
    expect(text).toContain("`npm run proof -- sample --seeds 3`")
    expect(text).toContain("(reliability/sample.svg)")
  })

  it("shows the command for proofs without a recorded outcome", () => {
    const text = buildPage(new Map([["sample", proof]]), new Map())
    expect(text).toContain("`npm run proof -- sample --record`")
    expect(text).not.toContain("yes")
  })

  it("has unique titles", () => {
    const titles = [...proofs.values()].map(({ title }) => title)
    expect(new Set(titles).size).toBe(titles.length)
  })
})

describe("An outcome", () => {
  it("is stored with four significant digits", () => {
    write(new URL("sample.json", folderUrl), outcome)
    expect(recordedOutcomes(folderUrl).get("sample")).toEqual({
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

  it("is rejected if it is invalid or has another name", () => {
    writeFileSync(join(folder, "sample.json"), '{"name": "sample"}')
    expect(() => recordedOutcomes(folderUrl)).toThrow("sample.json is not a valid outcome of a proof")
    writeFileSync(join(folder, "sample.json"), JSON.stringify({ ...outcome, name: "other" }))
    expect(() => recordedOutcomes(folderUrl)).toThrow("sample.json contains the outcome of other")
  })
})

describe("A picture", () => {
  it("has a line for each figure and escapes names", () => {
    const picture = drawPictures(new Map([["sample", outcome]])).get("sample") ?? ""
    expect([...picture.matchAll(/<path class="line c\d" d="([^"]+)"/g)].map(([, path]) => path)).toEqual([
      "M52 115L400 60"
    ])
    expect(picture).not.toContain("<MiB>")
  })
})
