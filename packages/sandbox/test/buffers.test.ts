/** What an isolate holds outside its heap, over looks at it. */
import { assert, describe, it } from "@effect/vitest"
import { Buffers } from "../src/runner/Buffers.ts"

const judged = (...looks: ReadonlyArray<number>) => {
  const buffers = new Buffers(64)
  return looks.map((bytes) => buffers.judge(bytes))
}

describe("what an isolate holds outside its heap", () => {
  it("ends it when it is over the limit at three looks in a row", () => {
    assert.deepStrictEqual(judged(65, 65, 65), ["worn", "fine", "over"])
  })

  it("is garbage while it goes away in between", () => {
    assert.deepStrictEqual(judged(65, 90, 10, 90, 65, 64, 65), ["worn", "fine", "fine", "fine", "fine", "fine", "fine"])
  })

  it("sends new runs elsewhere once, past half of the limit", () => {
    assert.deepStrictEqual(judged(32, 33, 33, 1, 33), ["fine", "worn", "fine", "fine", "fine"])
  })
})
