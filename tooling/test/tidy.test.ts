import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { formatFinding } from "../src/Finding.ts"
import { readRepository } from "../src/Repository.ts"
import { findingsIn } from "../src/rules/index.ts"
import { parseSource } from "../src/Source.ts"

it("the repository keeps its own rules", () => {
  const repository = readRepository(fileURLToPath(new URL("../..", import.meta.url)))
  expect(findingsIn(repository).map(formatFinding)).toEqual([])
})

it("names file and line of a source that does not parse", () => {
  expect(() => parseSource("src/a.ts", "const a = 1\nconst = 2")).toThrow(/^src\/a\.ts:2 /)
})
