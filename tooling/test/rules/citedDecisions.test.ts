import { expect, it } from "vitest"
import { citedDecisions } from "../../src/rules/citedDecisions.ts"
import { findingsOf } from "../fixture.ts"

const page = {
  "docs/decisions/specification.md": "# Open\n\n## 3. Permissions\n\n## 5. User code\n\n### 5.1 The bundle\n"
}

const said = (comment: string) =>
  findingsOf(citedDecisions, { ...page, "packages/core/src/runtime/runs/Run.ts": `/** ${comment} */\nexport {}` })

it("accepts existing sections", () => {
  expect(said("Permissions (decisions section 3) and bundles (decisions 5.1 and 5).")).toEqual([])
})

it("names a missing section", () => {
  expect(said("Runs (decisions 5.1 and 5.4).")).toEqual([
    "packages/core/src/runtime/runs/Run.ts:1 cited-decision docs/decisions/specification.md has no section 5.4"
  ])
})
