/** Samples of the memory that an isolate holds outside its heap. */
import { assert, describe, it } from "@effect/vitest"
import { BufferMonitor } from "../src/runner/BufferMonitor.ts"

const check = (...samples: ReadonlyArray<number>) => {
  const buffers = new BufferMonitor(64)
  return samples.map((bytes) => buffers.check(bytes))
}

describe("the buffer monitor", () => {
  it("ends an isolate above the limit in three samples in a row", () => {
    assert.deepStrictEqual(check(65, 65, 65), ["draining", "ok", "over"])
  })

  it("treats memory that shrinks between samples as garbage", () => {
    assert.deepStrictEqual(check(65, 90, 10, 90, 65, 64, 65), ["draining", "ok", "ok", "ok", "ok", "ok", "ok"])
  })

  it("reports draining once, above half of the limit", () => {
    assert.deepStrictEqual(check(32, 33, 33, 1, 33), ["ok", "draining", "ok", "ok", "ok"])
  })
})
