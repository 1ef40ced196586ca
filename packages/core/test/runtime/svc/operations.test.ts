/** The table of operations. */
import { assert, describe, it } from "@effect/vitest"
import { operations } from "../../../src/runtime/svc/operations.ts"

describe("the table of operations", () => {
  it("has unique names in the form of host calls", () => {
    const names = operations.map(({ name }) => name)
    assert.deepStrictEqual(names, [...new Set(names)])
    for (const name of names) {
      assert.match(name, /^[a-z]{1,20}(\.[a-z]{1,20})?$/)
      assert.notMatch(name, /^host\./, "this prefix belongs to functions of the host")
    }
  })

  it("has no method with the name of a group", () => {
    const groups = new Set(operations.flatMap(({ name }) => (name.includes(".") ? [name.replace(/\..*/, "")] : [])))
    assert.deepStrictEqual(
      operations.filter(({ name }) => groups.has(name)),
      []
    )
  })
})
