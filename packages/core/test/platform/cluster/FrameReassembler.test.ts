/** Splits bus messages into frames of limited size, and joins them. */
import { assert, describe, it } from "@effect/vitest"
import { NodeId, Timestamp } from "@weft/core/adapter"
import * as fc from "fast-check"
import { utf8Length } from "../../../src/foundation/Utf8.ts"
import { decodeContent, encodeContent } from "../../../src/platform/cluster/BusCodec.ts"
import { FrameReassembler, toFrames, toSingleFrame } from "../../../src/platform/cluster/FrameReassembler.ts"

const one = NodeId.make("01976a2b-000a-7000-8000-000000000001")
const two = NodeId.make("01976a2b-000a-7000-8000-000000000002")
const three = NodeId.make("01976a2b-000a-7000-8000-000000000003")
const at = (millis: number) => Timestamp.make(1_750_000_000_000 + millis)

/** A time after the start of all nodes above. */
const later = at(1_000_000_000)

const accepted = (pieces: FrameReassembler, texts: ReadonlyArray<string>, millis = 0) =>
  texts.flatMap((text) => pieces.accept(text, at(millis)) ?? [])

const contents = fc.array(fc.string({ unit: "grapheme-composite", maxLength: 2000 }), { maxLength: 20 })

describe("frames of messages", () => {
  it("fit into the maximum, and are joined in any mix of several nodes", () => {
    fc.assert(
      fc.property(
        contents,
        contents,
        fc.integer({ min: 110, max: 4000 }),
        fc.infiniteStream(fc.boolean()),
        (...all) => {
          const [ofOne, ofTwo, bytesMax, order] = all
          const split = (node: NodeId, sent: ReadonlyArray<string>) =>
            sent.flatMap((content, index) => toFrames(node, index + 1, content, bytesMax))
          const first = split(one, ofOne)
          const second = split(two, ofTwo)
          assert.isTrue([...first, ...second].every((text) => utf8Length(text) <= bytesMax))
          const mixed: Array<string> = []
          while (first.length + second.length > 0) {
            const [some, others] = order.next().value === true ? [first, second] : [second, first]
            mixed.push(...(some.length > 0 ? some : others).splice(0, 1))
          }
          const received = accepted(new FrameReassembler(three, later), mixed)
          const contentsFrom = (node: NodeId) =>
            received.filter((each) => each.node === node).map(({ content }) => content)
          assert.deepStrictEqual(contentsFrom(one), ofOne)
          assert.deepStrictEqual(contentsFrom(two), ofTwo)
          assert.isTrue(received.every(({ missedSince }) => missedSince === null))
        }
      )
    )
  })

  it("count as a gap if the first frame of a new node is not its first message", () => {
    const texts = [2, 3, 5].flatMap((seq) => toFrames(two, seq, String(seq), 300))
    const bornAt = Timestamp.make(Number.parseInt(two.slice(0, 8) + two.slice(9, 13), 16))
    const missed = (since: Timestamp) =>
      accepted(new FrameReassembler(one, since), texts).map((each) => each.missedSince)
    assert.deepStrictEqual(missed(bornAt), [bornAt, null, at(0)])
    assert.deepStrictEqual(missed(later), [null, null, at(0)])
  })

  it("that are sent again, from the start or completely, count once", () => {
    const pieces = new FrameReassembler(two, later)
    const texts = toFrames(one, 1, "x".repeat(1000), 300)
    assert.isAbove(texts.length, 4)
    const again = [...texts.slice(0, 3), ...texts, ...texts, ...toFrames(one, 2, "y", 300)]
    assert.deepStrictEqual(
      accepted(pieces, again).map(({ content, missedSince }) => [content.length, missedSince]),
      [
        [1000, null],
        [1, null]
      ]
    )
  })

  it("with a missing one are dropped, and the next message reports the start of the gap", () => {
    for (const lost of [0, 1, 4]) {
      const pieces = new FrameReassembler(two, later)
      accepted(pieces, toFrames(one, 1, "before", 300), 5)
      const texts = toFrames(one, 2, "x".repeat(1000), 300)
      assert.lengthOf(accepted(pieces, texts.toSpliced(lost, 1), 10), 0)
      assert.deepStrictEqual(accepted(pieces, toFrames(one, 3, "after", 300), 15), [
        { node: one, content: "after", missedSince: at(5) }
      ])
    }
  })

  it("of dead nodes are discarded after a timeout", () => {
    const pieces = new FrameReassembler(two, later)
    const [first = "", ...rest] = toFrames(one, 1, "x".repeat(1000), 300)
    accepted(pieces, [first])
    accepted(pieces, toFrames(three, 1, "x".repeat(1000), 300), 70_000)
    assert.lengthOf(accepted(pieces, rest, 70_000), 0)
  })

  it("of this node, and invalid texts, are ignored", () => {
    const pieces = new FrameReassembler(one, later)
    const strange = ["", "weft1", "weft9 x", `weft1 ${two} 1 0 0\n{}`, `weft1 ${two} 1 5 2\n{}`, `weft1 ${two} x 0 1\n`]
    assert.lengthOf(accepted(pieces, [...toFrames(one, 1, "own", 300), ...strange]), 0)
  })
})

describe("a single frame", () => {
  it("is received by all nodes, and reports no gap of numbered frames", () => {
    const pieces = new FrameReassembler(one, later)
    const [first = "", , third = ""] = [1, 2, 3].map((seq) => toFrames(two, seq, `${seq}`, 200)[0])
    const received = accepted(pieces, [first, toSingleFrame("a"), toSingleFrame("b"), toSingleFrame("a"), third])
    assert.deepStrictEqual(
      received.map(({ content, missedSince }) => [content, missedSince !== null]),
      [
        ["1", false],
        ["a", false],
        ["b", false],
        ["a", false],
        ["3", true]
      ]
    )
  })

  it("does not remove the sequence numbers of other nodes", () => {
    const pieces = new FrameReassembler(one, later)
    const [first = "", , third = ""] = [1, 2, 3].map((seq) => toFrames(two, seq, `${seq}`, 200)[0])
    accepted(pieces, [first, ...Array.from({ length: 3000 }, (_, n) => toSingleFrame(`${n}`))])
    assert.isNotNull(accepted(pieces, [third])[0]?.missedSince)
  })
})

describe("messages", () => {
  it("of newer nodes are decoded without their unknown parts", () => {
    const text = JSON.stringify({
      news: [{ type: "moon:full" }, { type: "tenants:changed", because: "they changed" }, 7, null],
      activity: [{ type: "run:dream" }],
      watching: true,
      mood: "good"
    })
    assert.deepStrictEqual(decodeContent(text), {
      control: [{ type: "tenants:changed" }],
      activity: [],
      wantsActivity: true,
      queriesInterest: false,
      silentSince: null
    })
  })

  it("that are invalid decode to null", () => {
    for (const text of ["", "7", "null", "[]", "{", `{"news":7}`, `{"watching":"yes"}`]) {
      assert.isNull(decodeContent(text), text)
    }
    assert.deepStrictEqual(
      decodeContent(
        encodeContent({ control: [], activity: [], wantsActivity: null, queriesInterest: false, silentSince: null })
      ),
      {
        control: [],
        activity: [],
        wantsActivity: null,
        queriesInterest: false,
        silentSince: null
      }
    )
  })
})
