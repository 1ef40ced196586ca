import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { sameAsNode } from "./compare.ts"
import { Guest, oracle } from "./Guest.ts"

const bytes = (max: number) => fc.uint8Array({ maxLength: max }).map((array) => [...array])

/** Bytes that are nearly UTF-8, so that most errors are relevant. */
const nearUtf8 = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        [0xef, 0xbb, 0xbf],
        [0xed, 0xa0, 0x80],
        [0xf0, 0x90],
        [0xf4, 0x90, 0x80, 0x80],
        [0xe0, 0x80],
        [0xc3],
        [0xff]
      ),
      fc.string({ unit: "grapheme", maxLength: 3 }).map((text) => [...Buffer.from(text)])
    ),
    { maxLength: 8 }
  )
  .map((pieces) => pieces.flat())

describe("TextEncoder", () => {
  it("encodes any string as Node does", async () => {
    const guest = await Guest.start()
    const texts = fc.sample(fc.string({ unit: "binary", maxLength: 40 }), { numRuns: 500, seed: 3 })
    const lone = ["\ud800", "a\udc00b", "\ud83d\ude00", "\ude00\ud83d", "\ud83d\ud83d\ude00"]
    const code = `return ${JSON.stringify([...texts, ...lone])}.map((text) => [...new TextEncoder().encode(text)])`
    assert.deepStrictEqual(await guest.run(code), await oracle(code))
  })

  sameAsNode({
    "encodes as much as fits into a buffer": `
      return [0, 1, 2, 3, 4, 5, 6, 9].map((size) => {
        const bytes = new Uint8Array(size)
        return [new TextEncoder().encodeInto("a\u00e9\u{1f600}z", bytes), [...bytes]]
      })`,
    "encodes long texts": `
      const text = "\u65e5\u672c abc \u{1f600}".repeat(5000)
      return [new TextEncoder().encode(text).length, new TextDecoder().decode(new TextEncoder().encode(text)) === text]`,
    "encodes nothing to nothing": `return [new TextEncoder().encode().length, new TextEncoder().encoding]`
  })
})

describe("TextDecoder", () => {
  it("decodes any bytes as Node does, whole and in chunks", async () => {
    const guest = await Guest.start()
    const samples = [
      ...fc.sample(bytes(24), { numRuns: 400, seed: 5 }),
      ...fc.sample(nearUtf8, { numRuns: 400, seed: 6 })
    ]
    const code = `
      const attempt = (decode) => { try { return decode() } catch (error) { return error.name } }
      return ${JSON.stringify(samples)}.map((sample) => {
        const bytes = new Uint8Array(sample)
        const cut = sample.length >> 1
        return ["utf-8", "utf-16le", "utf-16be", "latin1"].map((label) => {
          const pieces = new TextDecoder(label)
          return [
            new TextDecoder(label).decode(bytes),
            new TextDecoder(label, { ignoreBOM: true }).decode(bytes),
            attempt(() => new TextDecoder(label, { fatal: true }).decode(bytes)),
            pieces.decode(bytes.subarray(0, cut), { stream: true }) + pieces.decode(bytes.subarray(cut), { stream: true }) + pieces.decode()
          ].join("\\u0000")
        })
      })`
    assert.deepStrictEqual(await guest.run(code), await oracle(code))
  })

  sameAsNode({
    "supports labels": `
      return ["utf8", " UTF-8 ", "unicode-1-1-utf-8", "latin1", "ascii", "iso-8859-1", "windows-1252", "utf-16", "ucs-2", "utf-16be"].map(
        (label) => new TextDecoder(label).encoding)`,
    "refuses unknown labels": `return new TextDecoder("nonsense").encoding`,
    "takes buffers and views": `
      const { buffer } = new Uint8Array([97, 98, 99, 100])
      return [buffer, new DataView(buffer, 1, 2), new Uint16Array(buffer), new Uint8Array(buffer, 3)].map((input) => new TextDecoder().decode(input))`,
    "refuses other inputs": `return new TextDecoder().decode("text")`,
    "starts again after an error": `
      const decoder = new TextDecoder("utf-8", { fatal: true })
      try { decoder.decode(new Uint8Array([0xc3]), { stream: true }); decoder.decode(new Uint8Array([0x28])) } catch {}
      return decoder.decode(new Uint8Array([0xc3, 0xa9]))`,
    "decodes all of windows-1252": `return new TextDecoder("windows-1252").decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))`
  })
})

describe("base64", () => {
  it("encodes and decodes as Node does", async () => {
    const guest = await Guest.start()
    const samples = fc.sample(bytes(30), { numRuns: 300, seed: 8 })
    const texts = fc.sample(fc.string({ unit: fc.constantFrom(..."AZaz09+/= \t\n-_\u00e9"), maxLength: 9 }), {
      numRuns: 600,
      seed: 9
    })
    const code = `
      const attempt = (run) => { try { return run() } catch (error) { return [error.name, error.code] } }
      return [
        ${JSON.stringify(samples)}.map((sample) => { const text = String.fromCharCode(...sample); return [btoa(text), atob(btoa(text)) === text] }),
        ${JSON.stringify(texts)}.map((text) => attempt(() => atob(text))),
        attempt(() => btoa("\u0100")), attempt(() => btoa(null)), attempt(() => atob(undefined))
      ]`
    assert.deepStrictEqual(await guest.run(code), await oracle(code))
  })
})
