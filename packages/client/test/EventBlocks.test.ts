import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type Block, BlockReader } from "../src/streams/EventBlocks.ts"

const none: Block = { id: null, event: null, data: null, retry: null }

const read = (...pieces: ReadonlyArray<string>): ReadonlyArray<Block> => {
  const reader = new BlockReader()
  return pieces.flatMap((piece) => reader.take(piece))
}

describe("a reader of event blocks", () => {
  it("reads fields, joins lines of data, and leaves comments out", () => {
    assert.deepStrictEqual(read(": connected\nid: 7\n\n: heartbeat\n\nid: 8\nevent: a\ndata: {\ndata: }\n\n"), [
      { ...none, id: "7" },
      { id: "8", event: "a", data: "{\n}", retry: null }
    ])
    assert.deepStrictEqual(read(": leaving\nretry: 1000\n\ndata:x\nretry: soon\nid\nelse: 1\n\n"), [
      { ...none, retry: 1000 },
      { ...none, id: "", data: "x" }
    ])
  })

  it("keeps back what is not over", () => {
    assert.deepStrictEqual(read("data: 1\n\ndata: 2\n"), [{ ...none, data: "1" }])
  })

  it("reads the same, however the text is cut and its lines end", () => {
    const line = fc.constantFrom("data: a", "data:", "event: e", "id: 1", ": c", "retry: 5", "", "")
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 12 }),
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.array(fc.nat(60), { maxLength: 6 }),
        (lines, ending, cuts) => {
          const whole = [...lines, "", "x"].join("\n")
          const text = [...lines, "", "x"].join(ending)
          const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length]
          const pieces = places.slice(1).map((place, index) => text.slice(places[index], place))
          assert.deepStrictEqual(read(...pieces), read(whole))
        }
      )
    )
  })
})
