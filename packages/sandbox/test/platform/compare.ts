/** Tables of snippets that must have the same results in the guest and in Node. */
import { assert, it } from "vitest"
import { Guest, oracle } from "./Guest.ts"

/** Defines one test per snippet: the body of an async function that returns JSON. */
export const sameAsNode = (snippets: Readonly<Record<string, string>>): void => {
  for (const [claim, code] of Object.entries(snippets)) {
    it(claim, async () => {
      const guest = await Guest.start()
      const expected = await oracle(code)
      assert.isDefined(expected, "the snippet must return something")
      assert.deepStrictEqual(await guest.run(code), expected)
    })
  }
}
