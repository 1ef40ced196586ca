/**
 * Encryption at rest: AES-256-GCM under keys derived from the master keys, a fresh random nonce for every value,
 * and the place of the value as additional data, so that a value moved to another row does not open. And signatures
 * of what leaves this server and comes back: HMAC-SHA256, under keys of their own.
 *
 * The first master key seals; all of them open. To rotate, put the new key first, keep the old one, and seal
 * everything anew (`Resealing`); then the old one can go.
 */
import { Context, Effect, Layer, Redacted, Result, Schema } from "effect"
import { Aead, Kdf, Mac, SecureRandom } from "effect/crypto"
import { Base64Url, Hex } from "effect/encoding"
import { utf8DecodeStrict, utf8Encode } from "../ids/Utf8.ts"
import { keyIdOf, Sealed } from "./Sealed.ts"

/** A stored value does not open: its master key is not among ours, or it was tampered with. For the operator's log. */
export class CannotOpen extends Schema.TaggedError<CannotOpen>()("CannotOpen", { place: Schema.String }) {
  override get message(): string {
    return `${this.place} does not open with the master keys of this server`
  }
}

/** A master key has not 32 bytes. For the person who configured it, at start. */
export class MasterKeyInvalid extends Schema.TaggedError<MasterKeyInvalid>()("MasterKeyInvalid", {}) {
  override get message(): string {
    return "A master key must have exactly 32 bytes"
  }
}

/** The key that seals, then former ones that still open; 32 random bytes each. */
export type MasterKeys = readonly [Redacted.Redacted<Uint8Array>, ...ReadonlyArray<Redacted.Redacted<Uint8Array>>]

/**
 * Where a value is stored: its table and primary key. A value opens only in the place that it was sealed for.
 * The id of a context variable is `<project_id>/<key>`; that of the others is the record's own.
 */
export interface Place {
  readonly table: "context_variables" | "sessions" | "service_keys" | "certificates"
  readonly id: string
}

export class Keyring extends Context.Service<
  Keyring,
  {
    /** The id of the key that seals: 16 hex digits, derived from it, not secret. */
    readonly keyId: string
    readonly seal: (text: string, place: Place) => Effect.Effect<Sealed>
    readonly open: (sealed: Sealed, place: Place) => Effect.Effect<string, CannotOpen>
    /** A signature of the text as base64url, which only this server and others with its master keys can make. */
    readonly sign: (text: string) => Effect.Effect<string>
    /** Whether one of the keys made the signature, for this text. Takes as long for a wrong one as for another. */
    readonly isSigned: (text: string, signature: string) => Effect.Effect<boolean>
  }
>()("@weft/core/encryption/Keyring") {
  static readonly layer = (masterKeys: MasterKeys): Layer.Layer<Keyring, MasterKeyInvalid, SecureRandom.SecureRandom> =>
    Layer.effect(
      Keyring,
      Effect.gen(function* () {
        const aead = yield* Aead.Aead
        const mac = yield* Mac.Mac
        const random = yield* SecureRandom.SecureRandom
        const [first, ...former] = masterKeys
        const current = yield* derive(first)
        const all = [current, ...(yield* Effect.forEach(former, derive))]
        const keys = new Map(all.map(({ id, key }) => [id, key]))

        return Keyring.of({
          keyId: current.id,

          seal: Effect.fnUntraced(function* (text, place) {
            const nonce = yield* random.randomBytes(Aead.aes256Gcm.nonceLength)
            const sealed = yield* aead.encrypt(current.key, utf8Encode(text), { nonce, aad: aadOf(place) })
            return Sealed.make(`${current.id}.${Base64Url.encode(nonce)}.${Base64Url.encode(sealed)}`)
          }, Effect.orDie),

          open: Effect.fnUntraced(function* (sealed, place) {
            const key = keys.get(keyIdOf(sealed))
            const [, nonce = "", ciphertext = ""] = sealed.split(".")
            const refused = new CannotOpen({ place: `${place.table} ${place.id}` })
            if (key === undefined) return yield* refused
            const opened = Effect.all([
              Effect.fromResult(Base64Url.decode(nonce)),
              Effect.fromResult(Base64Url.decode(ciphertext))
            ]).pipe(Effect.flatMap(([iv, bytes]) => aead.decrypt(key, bytes, { nonce: iv, aad: aadOf(place) })))
            // Strict, because it leaves a byte order mark where it is.
            return utf8DecodeStrict(yield* Effect.mapError(opened, () => refused)) ?? (yield* refused)
          }),

          sign: (text) =>
            Effect.orDie(Effect.map(mac.sign(current.signing, utf8Encode(text)), (tag) => Base64Url.encode(tag))),

          isSigned: Effect.fnUntraced(function* (text, signature) {
            const tag = Result.getOrNull(Base64Url.decode(signature))
            if (tag === null) return false
            const verdicts = yield* Effect.forEach(all, ({ signing }) => mac.verify(signing, tag, utf8Encode(text)))
            return verdicts.includes(true)
          }, Effect.orDie)
        })
      })
    ).pipe(Layer.provide(Layer.mergeAll(Aead.layerWebCrypto, Kdf.layerWebCrypto, Mac.layerWebCrypto)))
}

const aadOf = ({ table, id }: Place): Uint8Array => utf8Encode(`weft ${table} ${id}`)

/** The keys of a master key for sealing and signing, and its id: none tells anything of the others or of the master key. */
const derive = Effect.fnUntraced(function* (masterKey: Redacted.Redacted<Uint8Array>) {
  const secret = Redacted.value(masterKey)
  if (secret.length !== 32) return yield* new MasterKeyInvalid()
  const kdf = yield* Kdf.Kdf
  const bytes = (purpose: string, length: number) =>
    Effect.orDie(kdf.derive(Kdf.hkdfSha256, secret, { salt: noSalt, length, info: utf8Encode(purpose) }))
  const id = Hex.encode(yield* bytes("weft key id", 8))
  return {
    id,
    key: yield* Effect.orDie(Aead.key(Aead.aes256Gcm, yield* bytes("weft sealing", 32))),
    signing: yield* Effect.orDie(Mac.key(Mac.hmacSha256, yield* bytes("weft signing", 32)))
  }
})

const noSalt = new Uint8Array(0)
