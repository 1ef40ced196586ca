import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { formatFinding } from "../src/Finding.ts"
import { readRepository, repositoryOf } from "../src/Repository.ts"
import { findingsIn } from "../src/rules/index.ts"

it("The repository has no findings", () => {
  const repository = readRepository(fileURLToPath(new URL("../..", import.meta.url)))
  expect(findingsIn(repository).map(formatFinding)).toEqual([])
})

it("A syntax error is reported with file and line, and other files are still checked", () => {
  const files = new Map([
    ["test/a.test.ts", "const a = 1\nconst = 2"],
    ["test/b.test.ts", "const b: any = 1"]
  ])
  expect(findingsIn(repositoryOf(files)).map(({ file, line, rule }) => [file, line, rule])).toEqual([
    ["test/a.test.ts", 2, "syntax"],
    ["test/b.test.ts", 1, "forbidden-code"]
  ])
})
