import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import fc from "fast-check"
import { Keyring, type MasterKeys, type SealContext } from "../../../src/platform/encryption/Keyring.ts"
import { keyIdOf, Sealed } from "../../../src/platform/encryption/Sealed.ts"

const key = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))

const ring = (...keys: MasterKeys) => Layer.provide(Keyring.layer(keys), SecureRandom.layerWebCrypto)

/** Runs `use` with a keyring of these keys. */
const within = <A, E>(keys: MasterKeys, use: (keyring: Keyring["Service"]) => Effect.Effect<A, E>) =>
  Effect.provide(Keyring.use(use), ring(...keys))

const place: SealContext = { table: "context_variables", id: "1/A" }

const refuses = (keys: MasterKeys, sealed: string, at: SealContext = place) =>
  Effect.map(
    Effect.flip(within(keys, (keyring) => keyring.open(Sealed.make(sealed), at))),
    (error) => `${error._tag} ${error.message}`
  )

const refusal = "CannotOpen context_variables 1/A cannot be decrypted with the master keys of this server"

describe("Keyring", () => {
  it("opens its sealed values, for any text and place", async () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("", "\uFEFFmark", "\u0000", "a".repeat(70_000), "🧵")
    )
    await fc.assert(
      fc.asyncProperty(text, fc.string({ unit: "grapheme" }), async (text, id) => {
        const at: SealContext = { table: "sessions", id }
        const opened = await Effect.runPromise(
          within([key(1)], (keyring) => Effect.flatMap(keyring.seal(text, at), (sealed) => keyring.open(sealed, at)))
        )
        assert.strictEqual(opened, text)
      }),
      { numRuns: 200 }
    )
  })

  it.effect("names the key of a sealed value, and reveals nothing of text and key", () =>
    within([key(1)], (keyring) =>
      Effect.gen(function* () {
        const sealed = yield* keyring.seal("a very secret text", place)
        assert.match(sealed, /^[0-9a-f]{16}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/)
        assert.strictEqual(keyIdOf(sealed), keyring.keyId)
        assert.notInclude(sealed, "secret")
        assert.notInclude(Buffer.from(sealed.split(".")[2] ?? "", "base64url").toString("latin1"), "secret")
        assert.notInclude(JSON.stringify(keyring), Buffer.alloc(32, 1).toString("hex"))
      })
    )
  )

  it.effect("has the same id for the same key, and different ids for different keys", () =>
    Effect.gen(function* () {
      const idOf = (byte: number) => within([key(byte)], (keyring) => Effect.succeed(keyring.keyId))
      assert.strictEqual(yield* idOf(1), yield* idOf(1))
      assert.notStrictEqual(yield* idOf(1), yield* idOf(2))
    })
  )

  it.effect("never uses a nonce twice", () =>
    within([key(1)], (keyring) =>
      Effect.gen(function* () {
        const sealed = yield* Effect.replicateEffect(keyring.seal("same", place), 2000)
        assert.strictEqual(new Set(sealed.map((one) => one.split(".")[1])).size, 2000)
        assert.strictEqual(new Set(sealed.map((one) => one.split(".")[2])).size, 2000)
      })
    )
  )

  it.effect("rejects a value in another place", () =>
    Effect.gen(function* () {
      const sealed = yield* within([key(1)], (keyring) => keyring.seal("x", place))
      for (const at of [
        { table: "context_variables", id: "1/B" },
        { table: "context_variables", id: "2/A" },
        { table: "context_variables", id: "" },
        { table: "sessions", id: "1/A" }
      ] as const) {
        assert.match(yield* refuses([key(1)], sealed, at), /^CannotOpen /)
      }
    })
  )

  it.effect("rejects a value with a changed, removed or added character", () =>
    Effect.gen(function* () {
      const sealed = yield* within([key(1)], (keyring) => keyring.seal("text", place))
      for (let at = 0; at < sealed.length; at++) {
        const other = sealed[at] === "A" ? "B" : "A"
        const [head, tail] = [sealed.slice(0, at), sealed.slice(at + 1)]
        for (const changed of [head + other + tail, head + tail, `${head}${sealed[at]}${other}${tail}`]) {
          // At some lengths, base64 has unused bits at the end: different text for the same bytes.
          if (sameBytes(changed, sealed)) continue
          assert.strictEqual(yield* refuses([key(1)], changed), refusal, `${at}`)
        }
      }
    })
  )

  it.effect("rejects combined parts of two values, and text that is not a sealed value", () =>
    Effect.gen(function* () {
      const [one = "", two = ""] = yield* within([key(1)], (keyring) =>
        Effect.replicateEffect(keyring.seal("text", place), 2)
      )
      const [id, nonce] = one.split(".")
      const [, , ciphertext] = two.split(".")
      for (const wrong of [
        `${id}.${nonce}.${ciphertext}`,
        "",
        ".",
        "..",
        "...",
        `${id}`,
        `${id}..`,
        `${id}.${nonce}.`
      ]) {
        assert.strictEqual(yield* refuses([key(1)], wrong), refusal, wrong)
      }
    })
  )

  it.effect("opens values with former keys and seals with the first", () =>
    Effect.gen(function* () {
      const [sealed, old] = yield* within([key(1)], (keyring) =>
        Effect.map(keyring.seal("kept", place), (sealed) => [sealed, keyring.keyId] as const)
      )
      yield* within([key(3), key(2), key(1)], (keyring) =>
        Effect.gen(function* () {
          assert.strictEqual(yield* keyring.open(sealed, place), "kept")
          const anew = yield* keyring.seal("kept", place)
          assert.strictEqual(keyIdOf(anew), keyring.keyId)
          assert.notStrictEqual(keyring.keyId, old)
          assert.strictEqual(yield* within([key(3)], (alone) => alone.open(anew, place)), "kept")
        })
      )
      assert.strictEqual(yield* refuses([key(3), key(2)], sealed), refusal)
    })
  )

  it.effect("accepts only master keys of 32 bytes", () =>
    Effect.gen(function* () {
      for (const length of [0, 16, 31, 33, 64]) {
        const wrong = Redacted.make(new Uint8Array(length))
        for (const keys of [[wrong], [key(1), wrong]] as const) {
          const error = yield* Effect.flip(within([...keys], () => Effect.void))
          assert.strictEqual(error._tag, "MasterKeyInvalid")
          assert.strictEqual(error.message, "A master key must have exactly 32 bytes")
        }
      }
    })
  )
})

const sameBytes = (a: string, b: string): boolean => {
  const [left, right] = [a.split("."), b.split(".")]
  return (
    left.length === right.length &&
    left[0] === right[0] &&
    [1, 2].every((part) =>
      Buffer.from(left[part] ?? "", "base64url").equals(Buffer.from(right[part] ?? "", "base64url"))
    )
  )
}
