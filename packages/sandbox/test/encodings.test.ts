/** Legacy encodings in real isolates: which builds have them, and that isolates share the tables. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sandbox } from "../src/index.ts"
import { markOptional, readMark } from "../src/protocol/OptionalNames.ts"
import { prepareTenant } from "./Tenant.ts"

const script = `
export const decode = (label) => new TextDecoder(label).decode(Uint8Array.of(0x93, 0xfa, 0x96, 0x7b))
export const large = async () => {
  const decoder = new TextDecoder("gb18030")
  const open = Array.from({ length: 10000 }, () => new TextDecoder("big5"))
  for (const each of open) each.decode(Uint8Array.of(0x81), { stream: true })
  return decoder.decode(new Uint8Array(2 ** 20).fill(0x81), { stream: true }).length
}
export const tamper = () => {
  const seen = []
  const { set, fill } = Uint32Array.prototype
  for (const name of ["at", "subarray", "entries", "set", "fill"]) {
    const own = Uint32Array.prototype.__proto__[name]
    Uint32Array.prototype.__proto__[name] = function (...args) { if (this instanceof Uint32Array) seen.push(name); return own.apply(this, args) }
  }
  return [new TextDecoder("shift_jis").decode(Uint8Array.of(0x82, 0xa0)), seen, typeof tables, typeof platform]
}
`

describe("legacy encodings in isolates", () => {
  it.live("decode in several builds, and leave the tables out of reach", () =>
    Effect.gen(function* () {
      const [first, second] = [yield* prepareTenant(1, script), yield* prepareTenant(2, script)]
      const call = Effect.fnUntraced(function* (tenant: typeof first, fn: string, args: ReadonlyArray<unknown>) {
        const { outcome } = yield* tenant.call(fn, { trigger: "args", svc: { args, run: {} } })
        return outcome._tag === "Returned" ? JSON.parse(outcome.output) : outcome
      })
      assert.strictEqual(yield* call(first, "decode", ["shift_jis"]), "日本")
      assert.deepStrictEqual(yield* call(first, "tamper", []), ["あ", [], "undefined", "undefined"])
      assert.strictEqual(yield* call(second, "decode", ["shift_jis"]), "日本")
      assert.strictEqual(yield* call(second, "decode", ["euc-kr"]), "볷\ufffd{")
      assert.strictEqual(yield* call(second, "large", []), 2 ** 19)
    }).pipe(Effect.provide(sandbox({ runners: 1 })))
  )

  it("are in builds that may name one, and only there", () => {
    const marks = (code: string) => readMark(markOptional(code))
    for (const code of [
      "new TextDecoder()",
      'new TextDecoder("utf-8",{fatal:true})',
      "new TextDecoder('UTF8')",
      "new TextDecoder;",
      'typeof TextDecoder!=="undefined"',
      "new TextDecoderStream()",
      "new TextEncoder()"
    ])
      assert.deepStrictEqual(marks(code), [], code)
    for (const code of [
      "new TextDecoder(label)",
      'new TextDecoder("gbk")',
      "const {TextDecoder:a}=globalThis",
      "globalThis.TextDecoder",
      "new TextDecoderStream(a)"
    ])
      assert.deepStrictEqual(marks(code), ["encodings"], code)
    assert.deepStrictEqual(marks("new URLPattern();new TextDecoder(a)\n"), ["optional", "encodings"])
  })
})
