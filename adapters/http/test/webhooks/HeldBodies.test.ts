import { assert, describe, it } from "@effect/vitest"
import { HeldBodies, HeldBody } from "../../src/webhooks/HeldBodies.ts"

const filled = (all: HeldBodies, pieces: number, bytes: number): HeldBody => {
  const body = new HeldBody(all)
  for (let count = 0; count < pieces; count++) body.add(new Uint8Array(bytes).fill(count))
  return body
}

describe("bodies that are held", () => {
  it("are whole, in the order of their pieces", () => {
    const all = new HeldBodies(1000, 100_000)
    assert.deepStrictEqual([...(filled(all, 3, 2).take() ?? [])], [0, 0, 1, 1, 2, 2])
    assert.deepStrictEqual(filled(all, 0, 0).take()?.length, 0)
  })

  it("have a room in common, which those leave that are let go", () => {
    const all = new HeldBodies(100_000, 100_000)
    const first = filled(all, 1, 100_000)
    assert.isNull(filled(all, 1, 100_000).take())
    assert.strictEqual(first.take()?.length, 100_000)
    // It is still held.
    assert.isNull(filled(all, 1, 100_000).take())
    first.letGo()
    first.letGo()
    const second = filled(all, 1, 100_000)
    assert.isNull(filled(all, 1, 100_000).take())
    second.letGo()
    assert.isNotNull(filled(all, 1, 100_000).take())
  })

  it("weigh more than their bytes where they come in many pieces", () => {
    assert.isNull(filled(new HeldBodies(100_000, 100_000), 1000, 1).take())
    assert.isNotNull(filled(new HeldBodies(100_000, 1_000_000), 1000, 1).take())
  })

  it("need no room while they are small", () => {
    const all = new HeldBodies(100_000, 0)
    for (let count = 0; count < 100; count++) assert.isNotNull(filled(all, 1, 16_000).take())
    assert.isNull(filled(all, 1, 17_000).take())
  })
})
