import { runInNewContext } from "node:vm"
import { collectGarbage } from "@weft/tooling/garbage"
import { assert, describe, it } from "vitest"

describe("the garbage collector of tests", () => {
  it("collects unreachable objects", async () => {
    const record = new WeakRef({})
    // A new or dereferenced object stays alive until the next turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
    collectGarbage()
    assert.isUndefined(record.deref())
  })

  it("does not appear in other contexts of the process", () => {
    assert.strictEqual(runInNewContext("typeof gc"), "undefined")
  })
})
