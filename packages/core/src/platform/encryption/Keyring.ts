/**
 * Encryption at rest: AES-256-GCM under keys derived from the master keys, with a random nonce for every value. The
 * place of a value is its additional authenticated data, so a value moved to another row cannot be decrypted.
 * Signatures of data that clients return, such as links: HMAC-SHA256 under separate derived keys.
 *
 * The first master key encrypts; all of them decrypt. To rotate, put the new key first, keep the old one, and
 * re-encrypt everything (`KeyRotation`). Then remove the old key.
 */
import { Context, Effect, Layer, Redacted, Result, Schema } from "effect"
import { Aead, Kdf, Mac, SecureRandom } from "effect/crypto"
import { Base64Url, Hex } from "effect/encoding"
import { utf8DecodeStrict, utf8Encode } from "../../foundation/Utf8.ts"
import { keyIdOf, Sealed } from "./Sealed.ts"

/** A stored value cannot be decrypted: its master key is not configured, or it was tampered with. For the operator's log. */
export class CannotOpen extends Schema.TaggedError<CannotOpen>()("CannotOpen", { place: Schema.String }) {
  override get message(): string {
    return `${this.place} cannot be decrypted with the master keys of this server`
  }
}

/** A master key does not have 32 bytes. Reported to the operator at start. */
export class MasterKeyInvalid extends Schema.TaggedError<MasterKeyInvalid>()("MasterKeyInvalid", {}) {
  override get message(): string {
    return "A master key must have exactly 32 bytes"
  }
}

/** The current key, which encrypts, then former keys, which only decrypt; 32 random bytes each. */
export type MasterKeys = readonly [Redacted.Redacted<Uint8Array>, ...ReadonlyArray<Redacted.Redacted<Uint8Array>>]

/**
 * The place of a stored value: its table and primary key. A value can be decrypted only in the place that it was
 * encrypted for. The id of a context variable is `<project_id>/<key>`, that of a token of a run `<env_id>/<run_id>/<seq>`.
 * That of a recording is `<env_id>/<run_id>`; other ids are those of the records.
 */
export interface SealContext {
  readonly table:
    | "context_variables"
    | "sessions"
    | "service_keys"
    | "certificates"
    | "workflow_tokens"
    | "run_recordings"
  readonly id: string
}

export class Keyring extends Context.Service<
  Keyring,
  {
    /** Id of the current key: 16 hex digits, derived from it, not secret. */
    readonly keyId: string
    /** Ids of all keys: the current one and the former ones. */
    readonly keyIds: ReadonlySet<string>
    readonly seal: (text: string, place: SealContext) => Effect.Effect<Sealed>
    readonly open: (sealed: Sealed, place: SealContext) => Effect.Effect<string, CannotOpen>
    /** Signs the text. Returns base64url. Only servers with the same master keys can make the signature. */
    readonly sign: (text: string) => Effect.Effect<string>
    /** True if one of the keys made the signature for this text. Takes constant time. */
    readonly isSigned: (text: string, signature: string) => Effect.Effect<boolean>
  }
>()("@weft/core/platform/encryption/Keyring") {
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

          keyIds: new Set(keys.keys()),

          seal: Effect.fnUntraced(function* (text, place) {
            const nonce = yield* random.randomBytes(Aead.aes256Gcm.nonceLength)
            const sealed = yield* aead.encrypt(current.key, utf8Encode(text), { nonce, aad: toAad(place) })
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
            ]).pipe(Effect.flatMap(([iv, bytes]) => aead.decrypt(key, bytes, { nonce: iv, aad: toAad(place) })))
            // Strict decoding keeps a byte order mark.
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

const toAad = ({ table, id }: SealContext): Uint8Array => utf8Encode(`weft ${table} ${id}`)

/** Derives the encryption key, the signing key and the id of a master key. None reveals another or the master key. */
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
