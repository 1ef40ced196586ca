/** All encodings of the Encoding standard. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "vitest"
import { Guest } from "./Guest.ts"

/** Decodes a line per pointer, and returns its code point; 0 if the pointer has none. */
const decodeAll = (label: string, count: number, toBytes: string): string => `
  const toBytes = ${toBytes}
  const bytes = Uint8Array.from(Array.from({ length: ${count} }, (_, pointer) => [...toBytes(pointer), 10]).flat())
  return new TextDecoder(${JSON.stringify(label)}).decode(bytes).split("\\n").slice(0, ${count}).map((line) => {
    const points = [...line]
    return points.length === 1 && line !== "\\ufffd" ? line.codePointAt(0) : 0
  })`

const row = (columns: number, gap: number): string => `(p) => {
  const column = p % ${columns}
  return [Math.floor(p / ${columns}) + 0x81, column + (column < 0x3f ? 0x40 : 0x40 + ${gap})]
}`

const kanji = `(p) => {
  const [row, column] = [Math.floor(p / 188), p % 188]
  return [row + (row < 0x1f ? 0x81 : 0xc1), column + (column < 0x3f ? 0x40 : 0x41)]
}`

const fourBytes =
  "(p) => [Math.floor(p / 12600) + 0x81, Math.floor(p / 1260) % 10 + 0x30, Math.floor(p / 10) % 126 + 0x81, p % 10 + 0x30]"

/** Hashes of the indexes that the standard publishes, as JSON with 0 for missing code points. */
const indexes: ReadonlyArray<readonly [label: string, count: number, toBytes: string, hash: string]> = [
  ["big5", 19_782, row(157, 0x22), "f0811cb33cc452c9"],
  ["euc-kr", 23_940, "(p) => [Math.floor(p / 190) + 0x81, (p % 190) + 0x41]", "787d4d2ca237b696"],
  ["gb18030", 23_940, row(190, 1), "c63ab720f1e92270"],
  ["gbk", 23_940, row(190, 1), "c63ab720f1e92270"],
  ["gb18030", 39_420, fourBytes, "92e59c1a3656d79f"],
  ["shift_jis", 11_280, kanji, "80071b95f46dbb57"],
  ["euc-jp", 8836, "(p) => [Math.floor(p / 94) + 0xa1, (p % 94) + 0xa1]", "8aa570d91b6b17a1"],
  ["euc-jp", 8836, "(p) => [0x8f, Math.floor(p / 94) + 0xa1, (p % 94) + 0xa1]", "fc0f382534fbed88"]
]

const singleByte =
  "ibm866 iso-8859-10 iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 " +
  "iso-8859-6 iso-8859-7 iso-8859-8 koi8-r koi8-u macintosh windows-1250 windows-1251 windows-1253 windows-1254 " +
  "windows-1255 windows-1256 windows-1257 windows-1258 windows-874 x-mac-cyrillic"

const hash = (codePoints: unknown): string =>
  createHash("sha256").update(JSON.stringify(codePoints)).digest("hex").slice(0, 16)

const run = async (code: string): Promise<unknown> => (await Guest.start()).run(code)

/** Decodes each input whole, byte by byte, and with \`fatal\`. */
const decodeBytes = (label: string, inputs: ReadonlyArray<ReadonlyArray<number>>): string => `
  return ${JSON.stringify(inputs)}.map((input) => {
    const bytes = Uint8Array.from(input)
    const whole = new TextDecoder(${JSON.stringify(label)}).decode(bytes)
    const pieces = new TextDecoder(${JSON.stringify(label)})
    let joined = ""
    for (const byte of bytes) joined += pieces.decode(Uint8Array.of(byte), { stream: true })
    joined += pieces.decode()
    let fatal = "threw"
    try { fatal = new TextDecoder(${JSON.stringify(label)}, { fatal: true }).decode(bytes) } catch {}
    return joined === whole && (fatal === whole || fatal === "threw" && whole.includes("\\ufffd")) ? whole : [whole, joined, fatal]
  })`

describe("legacy encodings", () => {
  for (const [label, count, toBytes, expected] of indexes) {
    it(`decode ${label} with the index of the standard, ${count} pointers (${expected})`, async () => {
      assert.strictEqual(hash(await run(decodeAll(label, count, toBytes))), expected)
    })
  }

  it("decode all encodings of one byte with the indexes of the standard", async () => {
    const answer = await run(`
      return ${JSON.stringify(singleByte.split(" "))}.flatMap((label) => {
        const text = new TextDecoder(label).decode(Uint8Array.from({ length: 128 }, (_, index) => index + 128))
        return [...text].map((character) => character === "\\ufffd" ? 0 : character.codePointAt(0))
      })`)
    assert.strictEqual(hash(answer), "6f54509fe0f5aace")
  })

  it("decode the four bytes of U+FFFD in gb18030, which are no error", async () => {
    const answer = await run(`
      return new TextDecoder("gb18030", { fatal: true }).decode(Uint8Array.of(0x84, 0x31, 0xa4, 0x37))`)
    assert.strictEqual(answer, "\ufffd")
  })

  it("decode private characters of x-user-defined", async () => {
    const answer = await run(decodeBytes("x-user-defined", [[0x41, 0x80, 0xff]]))
    assert.deepStrictEqual(answer, ["A\uf780\uf7ff"])
  })

  it("know their labels, and none for the replacement encoding", async () => {
    const answer = await run(`
      const labels = ["Shift-JIS", " ms932 ", "gb2312", "x-gbk", "big5-hkscs", "ks_c_5601-1987", "csISO2022JP", "logical", "latin2",
        "tis-620", "x-mac-ukrainian", "hz-gb-2312", "iso-2022-kr", "replacement", "utf-7"]
      return labels.map((label) => { try { return new TextDecoder(label).encoding } catch (error) { return error.name } })`)
    assert.deepStrictEqual(answer, [
      ..."shift_jis shift_jis gbk gbk big5 euc-kr iso-2022-jp iso-8859-8-i iso-8859-2 windows-874 x-mac-cyrillic".split(
        " "
      ),
      ..."RangeError RangeError RangeError RangeError".split(" ")
    ])
  })

  const errors: Readonly<Record<string, ReadonlyArray<readonly [ReadonlyArray<number>, string]>>> = {
    gb18030: [
      [[0x84, 0x31, 0xa4, 0x37], "\ufffd"],
      [[0x81, 0x30, 0x81], "\ufffd"],
      [[0x81, 0x30, 0x81, 0x41], "\ufffd0\u4e04"],
      [[0x81, 0x30, 0x41], "\ufffd0A"],
      [[0x81, 0x35, 0xf4, 0x37], "\ue7c7"],
      [[0x90, 0x30, 0x81, 0x30], "\u{10000}"],
      [[0xe3, 0x32, 0x9a, 0x35], "\u{10ffff}"],
      [[0xe3, 0x32, 0x9a, 0x36], "\ufffd"],
      [[0x80, 0xff, 0x84, 0x31, 0x95, 0x33], "\u20ac\ufffd\ufeff"]
    ],
    big5: [
      [[0x88, 0x62, 0x88, 0x64, 0x88, 0xa3, 0x88, 0xa5], "\u00ca\u0304\u00ca\u030c\u00ea\u0304\u00ea\u030c"],
      [[0x87, 0x40, 0xfe, 0xfe], "\u43f0\u79d4"],
      [[0x81, 0x40, 0x80, 0x81], "\ufffd@\ufffd\ufffd"]
    ],
    "euc-jp": [
      [[0x8e, 0xb1, 0x8f, 0xb0, 0xa1, 0xa4, 0xa2], "\uff71\u4e02\u3042"],
      [[0x8e, 0x41, 0x8f, 0xa1, 0x42, 0xff, 0x8f], "\ufffdA\ufffdB\ufffd\ufffd"]
    ],
    shift_jis: [
      [[0x80, 0xb1, 0x82, 0xa0, 0x5c], "\x80\uff71\u3042\\"],
      [[0x81, 0x20, 0xa0, 0xfd, 0x82], "\ufffd \ufffd\ufffd\ufffd"]
    ],
    "euc-kr": [
      [[0xb0, 0xa1, 0x81, 0x41, 0xa2, 0xe6], "\uac00\uac02\u20ac"],
      [[0xc9, 0xa1, 0xb0, 0x20, 0x80], "\ufffd\ufffd \ufffd"]
    ],
    "iso-2022-jp": [
      [[0x1b, 0x24, 0x42, 0x24, 0x22, 0x1b, 0x28, 0x42, 0x41], "\u3042A"],
      [[0x1b, 0x28, 0x4a, 0x5c, 0x7e, 0x1b, 0x28, 0x49, 0x31], "\u00a5\u203e\uff71"],
      [[0x1b, 0x28, 0x42, 0x1b, 0x28, 0x42, 0x41], "\ufffdA"],
      [[0x1b, 0x24], "\ufffd$"],
      [[0x1b, 0x24, 0x42, 0x24, 0x1b, 0x24], "\ufffd\ufffd\ufffd"],
      [[0x1b, 0x41, 0x0e, 0x80], "\ufffdA\ufffd\ufffd"]
    ]
  }
  for (const [label, cases] of Object.entries(errors)) {
    it(`replace malformed sequences of ${label} as the standard says, whole, in chunks and with fatal`, async () => {
      const answer = await run(
        decodeBytes(
          label,
          cases.map(([bytes]) => bytes)
        )
      )
      assert.deepStrictEqual(
        answer,
        cases.map(([, text]) => text)
      )
    })
  }

  it("decode streams whose chunks split characters", async () => {
    const answer = await run(`
      const decoded = new Blob([Uint8Array.of(0x82), Uint8Array.of(0xa0, 0x83), Uint8Array.of(0x41)]).stream()
        .pipeThrough(new TextDecoderStream("shift_jis"))
      let text = ""
      for await (const chunk of decoded) text += chunk
      return text`)
    assert.strictEqual(answer, "\u3042\u30a2")
  })

  it("stop a stream at a malformed sequence with fatal, and at a chunk that is not bytes", async () => {
    const answer = await run(`
      const attempt = async (chunk) => {
        const { readable, writable } = new TextDecoderStream("big5", { fatal: true })
        const reading = new Response(readable.pipeThrough(new TextEncoderStream())).text()
        const writer = writable.getWriter()
        writer.write(chunk).catch(() => {})
        writer.close().catch(() => {})
        return reading.catch((error) => error.name)
      }
      return [await attempt(Uint8Array.of(0x81, 0x80)), await attempt(undefined), await attempt(Uint8Array.of(0xa4, 0x40))]`)
    assert.deepStrictEqual(answer, ["TypeError", "TypeError", "\u4e00"])
  })
})
