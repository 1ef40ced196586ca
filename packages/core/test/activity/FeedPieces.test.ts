/** Contents of feeds as texts of limited size, and back. */
import { assert, describe, it } from "@effect/vitest"
import { NodeId, Timestamp } from "@weft/core"
import * as fc from "fast-check"
import { decodeContent, encodeContent } from "../../src/activity/FeedCodec.ts"
import { FeedPieces, toTextByItself, toTexts } from "../../src/activity/FeedPieces.ts"
import { utf8Length } from "../../src/ids/Utf8.ts"

const one = NodeId.make("01976a2b-000a-7000-8000-000000000001")
const two = NodeId.make("01976a2b-000a-7000-8000-000000000002")
const three = NodeId.make("01976a2b-000a-7000-8000-000000000003")
const at = (millis: number) => Timestamp.make(1_750_000_000_000 + millis)

/** After all nodes above began. */
const later = at(1_000_000_000)

const accepted = (pieces: FeedPieces, texts: ReadonlyArray<string>, millis = 0) =>
  texts.flatMap((text) => pieces.accept(text, at(millis)) ?? [])

const contents = fc.array(fc.string({ unit: "grapheme-composite", maxLength: 2000 }), { maxLength: 20 })

describe("pieces of contents", () => {
  it("fit, and come together again, however those of several nodes mix", () => {
    fc.assert(
      fc.property(
        contents,
        contents,
        fc.integer({ min: 110, max: 4000 }),
        fc.infiniteStream(fc.boolean()),
        (...all) => {
          const [ofOne, ofTwo, bytesMax, order] = all
          const textsOf = (node: NodeId, said: ReadonlyArray<string>) =>
            said.flatMap((content, index) => toTexts(node, index + 1, content, bytesMax))
          const first = textsOf(one, ofOne)
          const second = textsOf(two, ofTwo)
          assert.isTrue([...first, ...second].every((text) => utf8Length(text) <= bytesMax))
          const mixed: Array<string> = []
          while (first.length + second.length > 0) {
            const [some, others] = order.next().value === true ? [first, second] : [second, first]
            mixed.push(...(some.length > 0 ? some : others).splice(0, 1))
          }
          const heard = accepted(new FeedPieces(three, later), mixed)
          const said = (node: NodeId) => heard.filter((each) => each.node === node).map(({ content }) => content)
          assert.deepStrictEqual(said(one), ofOne)
          assert.deepStrictEqual(said(two), ofTwo)
          assert.isTrue(heard.every(({ missedSince }) => missedSince === null))
        }
      )
    )
  })

  it("that a node sent first count as missed where it began since", () => {
    const texts = [2, 3, 5].flatMap((seq) => toTexts(two, seq, String(seq), 300))
    const bornAt = Timestamp.make(Number.parseInt(two.slice(0, 8) + two.slice(9, 13), 16))
    const missed = (since: Timestamp) => accepted(new FeedPieces(one, since), texts).map((each) => each.missedSince)
    assert.deepStrictEqual(missed(bornAt), [bornAt, null, at(0)])
    assert.deepStrictEqual(missed(later), [null, null, at(0)])
  })

  it("that a node sends again, from the beginning or whole, count once", () => {
    const pieces = new FeedPieces(two, later)
    const texts = toTexts(one, 1, "x".repeat(1000), 300)
    assert.isAbove(texts.length, 4)
    const again = [...texts.slice(0, 3), ...texts, ...texts, ...toTexts(one, 2, "y", 300)]
    assert.deepStrictEqual(
      accepted(pieces, again).map(({ content, missedSince }) => [content.length, missedSince]),
      [
        [1000, null],
        [1, null]
      ]
    )
  })

  it("of which one is missing come to nothing, and the next content tells since when something is missing", () => {
    for (const lost of [0, 1, 4]) {
      const pieces = new FeedPieces(two, later)
      accepted(pieces, toTexts(one, 1, "before", 300), 5)
      const texts = toTexts(one, 2, "x".repeat(1000), 300)
      assert.lengthOf(accepted(pieces, texts.toSpliced(lost, 1), 10), 0)
      assert.deepStrictEqual(accepted(pieces, toTexts(one, 3, "after", 300), 15), [
        { node: one, content: "after", missedSince: at(5) }
      ])
    }
  })

  it("of dead nodes are let go after a while", () => {
    const pieces = new FeedPieces(two, later)
    const [first = "", ...rest] = toTexts(one, 1, "x".repeat(1000), 300)
    accepted(pieces, [first])
    accepted(pieces, toTexts(three, 1, "x".repeat(1000), 300), 70_000)
    assert.lengthOf(accepted(pieces, rest, 70_000), 0)
  })

  it("of this node, and texts that are none, are passed over", () => {
    const pieces = new FeedPieces(one, later)
    const strange = ["", "weft1", "weft9 x", `weft1 ${two} 1 0 0\n{}`, `weft1 ${two} 1 5 2\n{}`, `weft1 ${two} x 0 1\n`]
    assert.lengthOf(accepted(pieces, [...toTexts(one, 1, "own", 300), ...strange]), 0)
  })
})

describe("a content by itself", () => {
  it("is heard by everybody, and says nothing of what was missed of others", () => {
    const pieces = new FeedPieces(one, later)
    const [first = "", , third = ""] = [1, 2, 3].map((seq) => toTexts(two, seq, `${seq}`, 200)[0])
    const heard = accepted(pieces, [first, toTextByItself("a"), toTextByItself("b"), toTextByItself("a"), third])
    assert.deepStrictEqual(
      heard.map(({ content, missedSince }) => [content, missedSince !== null]),
      [
        ["1", false],
        ["a", false],
        ["b", false],
        ["a", false],
        ["3", true]
      ]
    )
  })

  it("makes nobody forget the numbers of the others", () => {
    const pieces = new FeedPieces(one, later)
    const [first = "", , third = ""] = [1, 2, 3].map((seq) => toTexts(two, seq, `${seq}`, 200)[0])
    accepted(pieces, [first, ...Array.from({ length: 3000 }, (_, n) => toTextByItself(`${n}`))])
    assert.isNotNull(accepted(pieces, [third])[0]?.missedSince)
  })
})

describe("contents", () => {
  it("of newer nodes are heard as far as they are known", () => {
    const text = JSON.stringify({
      news: [{ type: "moon:full" }, { type: "tenants:changed", because: "they changed" }, 7, null],
      activity: [{ type: "run:dream" }],
      watching: true,
      mood: "good"
    })
    assert.deepStrictEqual(decodeContent(text), {
      news: [{ type: "tenants:changed" }],
      activity: [],
      watching: true,
      asks: false,
      silentSince: null
    })
  })

  it("that are none are nothing", () => {
    for (const text of ["", "7", "null", "[]", "{", `{"news":7}`, `{"watching":"yes"}`]) {
      assert.isNull(decodeContent(text), text)
    }
    assert.deepStrictEqual(
      decodeContent(encodeContent({ news: [], activity: [], watching: null, asks: false, silentSince: null })),
      {
        news: [],
        activity: [],
        watching: null,
        asks: false,
        silentSince: null
      }
    )
  })
})
