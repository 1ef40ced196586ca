import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { generated } from "../../../scripts/Generated.ts"

const root = new URL("../../../../../", import.meta.url)

describe("the files that derive from the table of operations", () => {
  it("are current: npm run generate -w packages/core", () => {
    for (const [path, text] of generated()) assert.strictEqual(readFileSync(new URL(path, root), "utf8"), text, path)
  })
})
