import { assert, describe, it } from "@effect/vitest"
import { dispose, markDisposable } from "@weft/core/adapter"

describe("disposable chunks", () => {
  it("release their memory once", () => {
    const piece = markDisposable(new Uint8Array(1000).fill(1))
    const { buffer } = piece
    dispose(piece)
    assert.isTrue(buffer.detached)
    assert.strictEqual(piece.length, 0)
    dispose(piece)
  })

  it("keep their memory if they are not marked, or share it", () => {
    const unmarked = new Uint8Array(10).fill(1)
    const shared = new Uint8Array(1000).fill(1)
    const slice = markDisposable(shared.subarray(0, 999))
    const beyond = markDisposable(new Uint8Array(new SharedArrayBuffer(8)))
    for (const piece of [unmarked, slice, beyond]) dispose(piece)
    assert.deepStrictEqual([unmarked.length, shared.length, slice.length, beyond.length], [10, 1000, 999, 8])
  })
})
