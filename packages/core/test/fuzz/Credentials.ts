/** Fuzz targets for tokens of clients and for their positions in streams. */
import { type Draws, type Target, textOf, utf8 } from "@weft/tooling/fuzz"
import { Redacted } from "effect"
import { assert } from "vitest"
import { formatPosition, parsePosition } from "../../src/runtime/streams/Message.ts"
import { formatToken, parseToken } from "../../src/tenants/access/Token.ts"

const hex = "0123456789abcdef"
const secretLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~+/=-"

const letters = (draws: Draws, alphabet: string, length: number): string =>
  Array.from({ length }, () => draws.one([...alphabet])).join("")

const uuid = (draws: Draws): string => [8, 4, 4, 4, 12].map((length) => letters(draws, hex, length)).join("-")

const makeToken = (draws: Draws): string => {
  const id = draws.chance(0.1) ? uuid(draws).toUpperCase() : uuid(draws)
  const secret = letters(draws, secretLetters, draws.one([0, 1, 32, 43, 256, 257]))
  return `${draws.one(["svc_", "s_", "", "", "SVC_", "k_"])}${id}_${secret}`
}

const consistsOf = (text: string, alphabet: string): boolean => [...text].every((letter) => alphabet.includes(letter))

/** Parses a token independently of the product: prefix, UUID of 36 characters, underscore, secret. */
const parseByHand = (text: string): { readonly type: string; readonly id: string; readonly secret: string } | null => {
  for (const [prefix, type] of [
    ["svc_", "api-key"],
    ["s_", "session"],
    ["", "service-key"]
  ] as const) {
    if (!text.startsWith(prefix)) continue
    const id = text.slice(prefix.length, prefix.length + 36).toLowerCase()
    const secret = text.slice(prefix.length + 37)
    const isId =
      id
        .split("-")
        .map((group) => group.length)
        .join() === "8,4,4,4,12" && consistsOf(id, `${hex}-`)
    const isSecret = secret.length >= 1 && secret.length <= 256 && consistsOf(secret, secretLetters)
    if (isId && text[prefix.length + 36] === "_" && isSecret) return { type, id, secret }
  }
  return null
}

export const tokens: Target = {
  name: "tokens",
  generate: (draws) => utf8(makeToken(draws)),
  words: ["svc_", "s_", "_", "-", "\n", "\u0000", "é", "ſ", "K", "00000000-0000-0000-0000-000000000000"],
  limitMs: 100,
  run: (input) => {
    const text = textOf(input)
    const token = parseToken(text)
    const expected = parseByHand(text)
    if (token === null || expected === null) {
      assert.isTrue(token === expected, "only one of the two parsers accepted it")
      return "refused"
    }
    const { type, id, secret } = token
    assert.deepStrictEqual({ type, id, secret: Redacted.value(secret) }, expected)
    assert.notInclude(JSON.stringify({ ...token, id: "" }), `"${Redacted.value(secret)}"`)
    const again = parseToken(Redacted.value(formatToken(token)))
    assert.deepStrictEqual(again === null ? null : Redacted.value(again.secret), expected.secret)
    return "taken"
  }
}

export const positions: Target = {
  name: "positions",
  generate: (draws) =>
    utf8(
      `${draws.one([uuid(draws), "store", "a-1-t2", "é", ""])}-${draws.whole(0, 2 ** 31)}-t${draws.whole(0, 2 ** 31)}`
    ),
  words: ["-t", "-", "store", "999999999999999", "0x1", "1e3", "\r\n", "\n"],
  limitMs: 100,
  run: (input) => {
    const text = textOf(input)
    const place = parsePosition(text)
    if (place === null) return "refused"
    assert.isTrue(
      Number.isSafeInteger(place.seq) && place.seq >= 0 && Number.isSafeInteger(place.time) && place.time >= 0
    )
    assert.isTrue(text.startsWith(`${place.channel}-`))
    assert.deepStrictEqual(parsePosition(formatPosition(place)), place)
    return "taken"
  }
}
