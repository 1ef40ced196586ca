import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { longest } from "../src/programs/LongestFirst.ts"

const root = join(import.meta.dirname, "../..")

describe("the test files that start first", () => {
  it("exist", () => {
    assert.deepStrictEqual(
      longest.filter((path) => !existsSync(join(root, path))),
      []
    )
  })
})
