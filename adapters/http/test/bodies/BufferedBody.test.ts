import { assert, describe, it } from "@effect/vitest"
import { BodyMemoryBudget } from "../../src/bodies/BodyMemoryBudget.ts"
import { BufferedBody } from "../../src/bodies/BufferedBody.ts"

const filled = (budget: BodyMemoryBudget, chunks: number, bytes: number): BufferedBody => {
  const body = new BufferedBody(budget)
  for (let count = 0; count < chunks; count++) body.add(new Uint8Array(bytes).fill(count))
  return body
}

describe("buffered bodies", () => {
  it("are complete, in the order of their chunks", () => {
    const budget = new BodyMemoryBudget(1000, 1_000_000)
    assert.deepStrictEqual([...(filled(budget, 3, 2).take() ?? [])], [0, 0, 1, 1, 2, 2])
    assert.deepStrictEqual(filled(budget, 0, 0).take()?.length, 0)
    const body = new BufferedBody(budget)
    const expected: Array<number> = []
    for (const [index, size] of [1, 1, 20_000, 3, 5000, 16_384, 16_383, 1, 40_000, 1, 0, 2].entries()) {
      const chunk = new Uint8Array(size).map((_, at) => (at * 7 + index) % 256)
      body.add(chunk)
      expected.push(...chunk)
    }
    assert.deepStrictEqual([...(body.take() ?? [])], expected)
  })

  it("share a budget, which a release returns", () => {
    const budget = new BodyMemoryBudget(100_000, 100_000)
    const first = filled(budget, 1, 100_000)
    assert.isNull(filled(budget, 1, 100_000).take())
    assert.strictEqual(first.take()?.length, 100_000)
    // It is still buffered.
    assert.isNull(filled(budget, 1, 100_000).take())
    first.release()
    first.release()
    assert.strictEqual(budget.reservedBytes, 0)
    const second = filled(budget, 1, 100_000)
    assert.isNull(filled(budget, 1, 100_000).take())
    second.release()
    assert.isNotNull(filled(budget, 1, 100_000).take())
  })

  it("do not keep the chunks that they were read in, except a single one and large ones", () => {
    const budget = new BodyMemoryBudget(10_000_000, 10_000_000)
    const body = new BufferedBody(budget)
    const read = new Uint8Array(10_000_000)
    for (let at = 0; at < 1000; at++) body.add(read.subarray(at, at + 1))
    const buffer = body.take()?.buffer
    assert.notStrictEqual(buffer, read.buffer)
    assert.isBelow(buffer?.byteLength ?? Number.POSITIVE_INFINITY, 1_000_000)
  })

  it("refuse further chunks after one that exceeds the budget", () => {
    const body = new BufferedBody(new BodyMemoryBudget(100_000, 1000))
    assert.isTrue(body.add(new Uint8Array(17_000)))
    assert.isFalse(body.add(new Uint8Array(1000)))
    assert.isFalse(body.add(new Uint8Array(1)))
    assert.isNull(body.take())
  })

  it("need no budget while they are small, in any number of chunks", () => {
    const budget = new BodyMemoryBudget(100_000, 0)
    for (let count = 0; count < 100; count++) assert.isNotNull(filled(budget, 1, 16_000).take())
    assert.isNotNull(filled(budget, 16_000, 1).take())
    assert.isNull(filled(budget, 1, 17_000).take())
  })
})
