import { readFile } from "node:fs/promises"
import { assert, describe, it } from "@effect/vitest"
import { errorStatus, permittedEndpoints } from "@weft/api"
import { guideFile, guideWithTables } from "../../scripts/guide.ts"

describe("docs/api.md", () => {
  it("has the current tables of the API: npm run openapi -w adapters/http", async () => {
    const guide = await readFile(guideFile, "utf8")
    assert.strictEqual(guide, guideWithTables(guide))
    for (const code of Object.keys(errorStatus)) assert.include(guide, `| \`${code}\` |`)
    assert.strictEqual(guide.match(/^\| `[A-Z]+ \/v1\//gm)?.length, permittedEndpoints().size)
  })
})
