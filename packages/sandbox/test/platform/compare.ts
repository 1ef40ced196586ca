/** Tables of snippets that must answer in the guest as they do in Node. */
import { assert, it } from "vitest"
import { Guest, oracle } from "./Guest.ts"

/** One test for each snippet: the body of an async function that returns JSON. */
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
