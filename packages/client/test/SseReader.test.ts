import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type SseBlock, SseParser } from "../src/streams/SseReader.ts"

const none: SseBlock = { id: null, event: null, data: null, retry: null }

const read = (...pieces: ReadonlyArray<string>): ReadonlyArray<SseBlock> => {
  const reader = new SseParser()
  return pieces.flatMap((piece) => reader.take(piece))
}

describe("SseParser", () => {
  it("parses fields, joins data lines, and omits comments", () => {
    assert.deepStrictEqual(read(": connected\nid: 7\n\n: heartbeat\n\nid: 8\nevent: a\ndata: {\ndata: }\n\n"), [
      { ...none, id: "7" },
      { id: "8", event: "a", data: "{\n}", retry: null }
    ])
    assert.deepStrictEqual(read(": leaving\nretry: 1000\n\ndata:x\nretry: soon\nid\nelse: 1\n\n"), [
      { ...none, retry: 1000 },
      { ...none, id: "", data: "x" }
    ])
  })

  it("withholds incomplete blocks", () => {
    assert.deepStrictEqual(read("data: 1\n\ndata: 2\n"), [{ ...none, data: "1" }])
  })

  it("returns the same blocks for any chunks and line endings", () => {
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
