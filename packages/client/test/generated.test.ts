import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { generated, generatedFolder } from "../scripts/Generated.ts"

describe("src/generated", () => {
  it("is current: npm run generate -w packages/client", () => {
    const expected = generated()
    assert.sameMembers(
      readdirSync(generatedFolder),
      expected.map(([name]) => name)
    )
    for (const [name, text] of expected) {
      assert.strictEqual(readFileSync(new URL(name, generatedFolder), "utf8"), text, name)
    }
  })
})
