import { assert, describe, it } from "vitest"
import { sameAsNode } from "./compare.ts"
import { Guest } from "./Guest.ts"

describe("structuredClone", () => {
  sameAsNode({
    "copies plain data": `
      const value = { a: [1, , "x", null, undefined], n: -0, b: 2n ** 70n + "", d: new Date(5), nested: { deep: [true] } }
      const copy = structuredClone(value)
      return [copy, copy !== value, copy.a !== value.a, 1 in copy.a, Object.is(copy.n, -0), copy.d instanceof Date, copy.d.getTime()]`,
    "keeps cycles and identity": `
      const shared = { s: 1 }
      const value = { shared, again: shared, map: new Map([[shared, shared]]) }
      value.self = value
      const copy = structuredClone(value)
      return [copy.self === copy, copy.shared === copy.again, copy.map.get(copy.shared) === copy.shared, copy.shared !== shared]`,
    "copies maps, sets, expressions, boxes": `
      const pattern = /a+/giu
      pattern.lastIndex = 3
      const copy = structuredClone({ map: new Map([[1, { a: 1 }]]), set: new Set([1, "1"]), pattern, box: [Object(1), Object("s"), Object(false), Object(3n)] })
      return [[...copy.map], [...copy.set], String(copy.pattern), copy.pattern.lastIndex, copy.box.map((b) => [typeof b, String(b)])]`,
    "copies errors": `
      const errors = [new TypeError("m"), new Error(), Object.assign(new RangeError("r", { cause: { a: 1 } }), { extra: 1 }), Object.assign(new Error("n"), { name: "Odd" })]
      return errors.map((error) => {
        const copy = structuredClone(error)
        return [copy.name, copy.message, Object.hasOwn(copy, "message"), copy.cause, copy.extra, copy instanceof Error, copy.stack === error.stack, copy.constructor.name]
      })`,
    "copies buffers and views, which keep sharing": `
      const buffer = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]).buffer
      const copy = structuredClone({ buffer, bytes: new Uint8Array(buffer, 2, 3), view: new DataView(buffer, 1), words: new Uint16Array(buffer, 2) })
      copy.bytes[0] = 99
      return [[...new Uint8Array(copy.buffer)], [...copy.bytes], copy.view.byteLength, copy.view.getUint8(1), [...copy.words], new Uint8Array(buffer)[2],
        copy.bytes.buffer === copy.buffer]`,
    "moves transferred buffers": `
      const buffer = new ArrayBuffer(8)
      const bytes = new Uint8Array(buffer, 2, 4).fill(7)
      const copy = structuredClone({ bytes, other: new Uint8Array([1]) }, { transfer: [buffer] })
      return [buffer.byteLength, bytes.length, [...copy.bytes], copy.bytes.byteOffset, [...copy.other], copy.bytes.buffer.byteLength]`,
    "moves nothing if a value cannot be cloned": `
      const buffer = new ArrayBuffer(8)
      try { structuredClone({ buffer, f() {} }, { transfer: [buffer] }) } catch (error) { return [error.name, error.code, buffer.byteLength] }`,
    "refuses functions": `return structuredClone(() => 1)`,
    "refuses symbols": `return structuredClone({ a: Symbol("x") })`,
    "refuses promises": `return structuredClone([Promise.resolve()])`,
    "refuses weak maps": `return structuredClone(new WeakMap())`,
    "rejects the transfer of a value that is not a buffer": `return structuredClone(1, { transfer: [{}] })`,
    "refuses transferring twice": `const b = new ArrayBuffer(1); return structuredClone(b, { transfer: [b, b] })`,
    "copies blobs and files": `
      const file = structuredClone(new File(["abc"], "n.txt", { type: "text/plain", lastModified: 5 }))
      const blob = structuredClone(new Blob(["xy"], { type: "a/b" }))
      return [file instanceof File, file.name, file.type, file.lastModified, await file.text(), blob.type, await blob.text()]`,
    "copies exceptions": `
      const copy = structuredClone(new DOMException("m", "AbortError"))
      return [copy instanceof DOMException, copy.name, copy.message, copy.code]`,
    "copies own enumerable properties and calls getters": `
      class Point { constructor() { this.x = 1 } get y() { return 2 } }
      const value = new Point()
      Object.defineProperty(value, "hidden", { value: 1 })
      Object.defineProperty(value, "got", { get: () => 5, enumerable: true })
      value[Symbol("s")] = 1
      const copy = structuredClone(value)
      return [copy, copy instanceof Point, Object.getPrototypeOf(copy) === Object.prototype, structuredClone(Object.assign([1], { k: 2 })).k]`,
    "keeps __proto__ a plain key": `
      const copy = structuredClone(JSON.parse('{"__proto__": {"polluted": 1}}'))
      return [Object.keys(copy), copy.polluted === undefined]`
  })

  it("rejects objects of the platform that are more than data", async () => {
    const guest = await Guest.start()
    for (const code of [
      "new URL('http://a')",
      "new Headers()",
      "new AbortController().signal",
      "new ReadableStream()"
    ]) {
      assert.deepStrictEqual(
        await guest.run(`return structuredClone({ a: ${code} })`),
        { thrown: "DataCloneError" },
        code
      )
    }
  })

  it("of an extremely deep value throws, and the realm continues", async () => {
    const guest = await Guest.start()
    const answer = await guest.run(`
      let deep = {}
      for (let i = 0; i < 100000; i++) deep = { deep }
      try { structuredClone(deep) } catch (error) { return [error.name, structuredClone(1)] }`)
    assert.deepStrictEqual(answer, ["RangeError", 1])
  })
})
