import { createGunzip, gunzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { GzipFrames } from "../../src/streams/GzipFrames.ts"

const small = Buffer.from("id: 1\ndata: {}\n\n")
const large = Buffer.from(
  `data: ${JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id, name: "order" })))}\n\n`
)

describe("GzipFrames", () => {
  it("is a valid gzip stream, shorter if its chunks are large", () => {
    const frames = new GzipFrames()
    const bytes = Buffer.concat([frames.begin(small), frames.add(large), frames.add(small), frames.end()])
    assert.deepStrictEqual(gunzipSync(bytes), Buffer.concat([small, large, small]))
    assert.isBelow(bytes.length, large.length / 4)
  })

  it("can be decoded chunk by chunk, before its end", async () => {
    const frames = new GzipFrames()
    const gunzip = createGunzip()
    for (const [chunk, bytes] of [
      [small, frames.begin(small)],
      [large, frames.add(large)],
      [small, frames.add(small)]
    ] as const) {
      let decoded = Buffer.alloc(0)
      gunzip.write(bytes)
      while (decoded.length < chunk.length) {
        const part: unknown = gunzip.read() ?? (await new Promise((resolve) => gunzip.once("readable", resolve)))
        if (part instanceof Uint8Array) decoded = Buffer.concat([decoded, part])
      }
      assert.deepStrictEqual(decoded, chunk)
    }
    gunzip.destroy()
  })

  it("shares the blocks of a chunk between connections", () => {
    const [first, second] = [new GzipFrames(), new GzipFrames()]
    first.begin(small)
    second.begin(large)
    assert.strictEqual(first.add(large), second.add(large))
  })
})
