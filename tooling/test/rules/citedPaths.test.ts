import { expect, it } from "vitest"
import { citedPaths } from "../../src/rules/citedPaths.ts"
import { findingsOf } from "../fixture.ts"

const sources = {
  "packages/core/src/runs/Run.ts": "export const endRun = 1",
  "packages/core/test/runs/Run.test.ts": "export {}",
  "docs/cli.md": "# Commands"
}

const found = (text: string, page = "ARCHITECTURE.md") => findingsOf(citedPaths, { ...sources, [page]: text })

it("accepts files, folders, ends of paths and patterns that exist", () => {
  const cited = ["packages/core/src/runs/Run.ts", "packages/core/src/", "packages/core", "runs/Run.ts", "Run.ts"]
  for (const path of [...cited, "docs/cli.md", "packages/*/src", "*.test.ts"])
    expect(found(`See \`${path}\`.`)).toEqual([])
})

it("reports files and folders that do not exist", () => {
  expect(found("# Way\n\n`packages/core/src/Run.ts`")).toEqual([
    "ARCHITECTURE.md:3 cited-path packages/core/src/Run.ts does not exist"
  ])
  expect(found("`adapters/gone/`")).toEqual(["ARCHITECTURE.md:1 cited-path adapters/gone/ does not exist"])
  expect(found("`Gone.ts`", "docs/design/streams.md")).toEqual([
    "docs/design/streams.md:1 cited-path Gone.ts does not exist"
  ])
})

it("reports names that no source has, in backticks and in diagrams", () => {
  expect(found("`endRun` and `Run.endRun()`")).toEqual([])
  expect(found("`endRuns`")).toEqual(["ARCHITECTURE.md:1 cited-path no source has the name endRuns"])
  expect(found("```\nroute → RunStore.end\n```")).toEqual([
    "ARCHITECTURE.md:2 cited-path no source has the name RunStore"
  ])
})

it("ignores routes, packages, placeholders, code in a language and other pages", () => {
  for (const text of ["`POST /v1/runs`", "`@weft/core/adapter`", "`adapters/<name>/src`", "`text`", "`FOR UPDATE`"]) {
    expect(found(text)).toEqual([])
  }
  expect(found("```ts\nGoneStore.end\n```")).toEqual([])
  expect(found("`Gone.ts`", "README.md")).toEqual([])
})
