import { expect, it } from "vitest"
import { names } from "../../src/rules/names.ts"
import { findingsOf } from "../fixture.ts"

it.each([
  ["src/utils/a.ts", "utils"],
  ["src/StringUtils.ts", "utils"],
  ["src/run-manager.ts", "manager"],
  ["packages/common/src/a.ts", "common"],
  ["test/helpers.ts", "helpers"],
  ["lib/a.ts", "lib"]
])("refuses %s", (path, word) => {
  expect(findingsOf(names, { [path]: "" })).toEqual([`${path}:1 name "${word}" names no concept`])
})

it("reads whole words only", () => {
  expect(findingsOf(names, { "src/Commonplace.ts": "", "src/Calibrate.ts": "", "src/utility.md": "" })).toEqual([])
})
