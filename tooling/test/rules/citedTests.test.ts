import { expect, it } from "vitest"
import { citedTests } from "../../src/rules/citedTests.ts"
import { findingsOf } from "../fixture.ts"

const table = (row: string) => `# Security\n\n| threat | defence | test |\n| --- | --- | --- |\n${row}\n`

const said = (row: string) =>
  findingsOf(citedTests, { "SECURITY.md": table(row), "packages/core/test/Token.test.ts": "export {}" })

it("accepts a defence with an existing test", () => {
  expect(said("| a guess | 256 bits | `packages/core/test/Token.test.ts` |")).toEqual([])
})

it("names a missing test, and a defence without a test", () => {
  expect(said("| a guess | 256 bits | `packages/core/test/Gone.test.ts` |")).toEqual([
    "SECURITY.md:5 cited-test packages/core/test/Gone.test.ts does not exist"
  ])
  expect(said("| a guess | 256 bits | we trust that |")).toEqual(["SECURITY.md:5 cited-test a defence without a test"])
})
