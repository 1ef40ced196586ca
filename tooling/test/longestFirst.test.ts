/** The files that a run begins with are there. */
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, it } from "vitest"
import { long } from "../src/LongestFirst.ts"

it("names each file once, and only files that are there", () => {
  const root = new URL("../../", import.meta.url)
  const gone = long.filter((file) => !existsSync(fileURLToPath(new URL(file, root))))
  assert.deepStrictEqual(gone, [])
  assert.strictEqual(new Set(long).size, long.length)
})
