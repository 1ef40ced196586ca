/** Signatures of values that leave the server and return. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import fc from "fast-check"
import { Keyring, type MasterKeys } from "../../../src/platform/encryption/Keyring.ts"

const key = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))

const within = <A, E>(keys: MasterKeys, use: (keyring: Keyring["Service"]) => Effect.Effect<A, E>) =>
  Effect.provide(Keyring.use(use), Layer.provide(Keyring.layer(keys), SecureRandom.layerWebCrypto))

const signed = (keys: MasterKeys, text: string) => within(keys, (keyring) => keyring.sign(text))
const isSigned = (keys: MasterKeys, text: string, signature: string) =>
  within(keys, (keyring) => keyring.isSigned(text, signature))

describe("a signature", () => {
  it("is valid for its text, and for no other", async () => {
    const text = fc.string({ unit: "grapheme" })
    await fc.assert(
      fc.asyncProperty(text, text, async (text, other) => {
        const signature = await Effect.runPromise(signed([key(1)], text))
        assert.match(signature, /^[A-Za-z0-9_-]{43}$/)
        assert.isTrue(await Effect.runPromise(isSigned([key(1)], text, signature)))
        assert.strictEqual(await Effect.runPromise(isSigned([key(1)], other, signature)), other === text)
      }),
      { numRuns: 30 }
    )
  })

  it.effect("is valid with its master key, and never with other keys", () =>
    Effect.gen(function* () {
      const signature = yield* signed([key(1)], "text")
      assert.isTrue(yield* isSigned([key(2), key(1)], "text", signature))
      assert.isFalse(yield* isSigned([key(2)], "text", signature))
      assert.notStrictEqual(yield* signed([key(2), key(1)], "text"), signature)
    })
  )

  it.effect("cannot be forged", () =>
    Effect.gen(function* () {
      const signature = yield* signed([key(1)], "text")
      for (const wrong of [
        "",
        "A",
        "*",
        signature.slice(1),
        `${signature}A`,
        signature.toLowerCase(),
        "A".repeat(43)
      ]) {
        assert.isFalse(yield* isSigned([key(1)], "text", wrong), wrong)
      }
    })
  )
})
