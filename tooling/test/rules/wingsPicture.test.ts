import { expect, it } from "vitest"
import { drawWings } from "../../src/architecture/Drawing.ts"
import { importsOfWings } from "../../src/architecture/Imports.ts"
import { repositoryOf } from "../../src/Repository.ts"
import { picture, wingsPicture } from "../../src/rules/wingsPicture.ts"
import { findingsOf } from "../fixture.ts"

const sources = {
  "packages/core/src/foundation/Ids.ts": "",
  "packages/core/src/runtime/runs/Run.ts": `import type { RunId } from "../../foundation/Ids.ts"`,
  "packages/core/src/Weft.ts": `import "./runtime/runs/Run.ts"`
}

const svg = drawWings(importsOfWings(repositoryOf(new Map(Object.entries(sources)))))

it("The picture of the wings describes their imports", () => {
  expect(svg).toContain(">Weft.ts imports runtime. embed imports no other wing. memory imports no other wing.")
  expect(svg).toContain(" runtime imports foundation. ")
  expect(svg.match(/<path class="line/g)).toHaveLength(2)
})

it("The picture of the wings must be current", () => {
  expect(findingsOf(wingsPicture, { ...sources, [picture]: svg })).toEqual([])
  expect(
    findingsOf(wingsPicture, {
      ...sources,
      "packages/core/src/memory/A.ts": `import "../foundation/Ids.ts"`,
      [picture]: svg
    })
  ).toEqual([`${picture}:1 wings-picture differs from the imports; run \`npm run wings\``])
})
