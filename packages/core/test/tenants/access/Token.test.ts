import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import {
  formatToken,
  hashSecret,
  isSameHash,
  mintToken,
  parseToken,
  type TokenType
} from "../../../src/tenants/access/Token.ts"

const id = "01890000-0000-7000-8000-00000000000a"

const partsOf = (text: string) => {
  const token = parseToken(text)
  return token === null ? null : [token.type, token.id, Redacted.value(token.secret)]
}

describe("parseToken", () => {
  it.each([
    [`svc_${id}_abc`, ["api-key", id, "abc"]],
    [`${id}_abc`, ["service-key", id, "abc"]],
    [`s_${id}_abc`, ["session", id, "abc"]],
    [`svc_${id}_a_b_-_c`, ["api-key", id, "a_b_-_c"]],
    [`svc_${id.toUpperCase()}_Abc`, ["api-key", id, "Abc"]]
  ])("takes %s apart", (text, parts) => {
    assert.deepStrictEqual<unknown>(partsOf(text), parts)
  })

  it.each([
    [""],
    ["svc_"],
    [`svc_${id}`],
    [`svc_${id}_`],
    [`SVC_${id}_abc`],
    [`svc_${id.slice(1)}_abc`],
    [`svc_${id}_a b`],
    [`svc_${id}_abc\n`],
    [`x_${id}_abc`],
    [` svc_${id}_abc`],
    [`svc_${id}_${"a".repeat(257)}`]
  ])("refuses %j", (text) => {
    assert.isNull(parseToken(text))
  })
})

describe("mintToken", () => {
  it.effect("creates valid tokens with 32 random bytes each", () =>
    Effect.gen(function* () {
      for (const type of ["api-key", "service-key", "session"] satisfies Array<TokenType>) {
        const [a, b] = [yield* mintToken(type, id), yield* mintToken(type, id)]
        assert.deepStrictEqual(partsOf(Redacted.value(formatToken(a))), [type, id, Redacted.value(a.secret)])
        assert.match(Redacted.value(a.secret), /^[A-Za-z0-9_-]{43}$/)
        assert.notStrictEqual(Redacted.value(a.secret), Redacted.value(b.secret))
      }
    }).pipe(Effect.provide(SecureRandom.layerWebCrypto))
  )

  it.effect("redacts the secret in output", () =>
    Effect.gen(function* () {
      const token = yield* mintToken("api-key", id)
      assert.notInclude(`${JSON.stringify(token)}${String(formatToken(token))}`, Redacted.value(token.secret))
    }).pipe(Effect.provide(SecureRandom.layerWebCrypto))
  )
})

describe("hashSecret", () => {
  it.effect("returns SHA-256 in hex", () =>
    Effect.gen(function* () {
      const hash = yield* hashSecret(Redacted.make("abc"))
      assert.strictEqual(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
      assert.isTrue(isSameHash(hash, hash))
      assert.isFalse(isSameHash(hash, `${hash.slice(0, -1)}e`))
      assert.isFalse(isSameHash(hash, hash.slice(1)))
    }).pipe(Effect.provide(Digest.layerWebCrypto))
  )
})
