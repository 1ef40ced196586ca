/**
 * Tokens, which clients send to authenticate (specification, "Authentication").
 *
 * A token contains the id of its credential and a secret. Stores keep only the SHA-256 of the secret. A slow password
 * hash is not necessary, because a secret is 32 random bytes and cannot be guessed.
 */
import { Effect, Redacted } from "effect"
import { Digest, Mac, SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { utf8Encode } from "../../foundation/Utf8.ts"

const prefixes = { "api-key": "svc_", session: "s_", "service-key": "" } as const

export type TokenType = keyof typeof prefixes

export interface Token {
  readonly type: TokenType
  /** Id of the credential, a UUID in lowercase. */
  readonly id: string
  readonly secret: Redacted.Redacted<string>
}

// The secret may contain `_`, so the pattern finds the id by the format of a UUID.
const tokenShape = /^(svc_|s_|)([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})_([\w.~+/=-]{1,256})$/i

/** Returns the parts of a token, or null if the text is not a token. */
export const parseToken = (text: string): Token | null => {
  const [, prefix, id, secret] = tokenShape.exec(text) ?? []
  if (prefix === undefined || id === undefined || secret === undefined) return null
  const type = prefix === "svc_" ? "api-key" : prefix === "s_" ? "session" : "service-key"
  return prefix === prefixes[type] ? { type, id: id.toLowerCase(), secret: Redacted.make(secret) } : null
}

/** Creates a token for the credential `id`, with a secret of 32 random bytes in Base64url. */
export const mintToken = (type: TokenType, id: string): Effect.Effect<Token, never, SecureRandom.SecureRandom> =>
  Effect.flatMap(SecureRandom.SecureRandom, (random) =>
    Effect.map(random.randomBytes(32), (bytes) => ({ type, id, secret: Redacted.make(Base64Url.encode(bytes)) }))
  )

/** Returns the text of a token, which the API returns only once. */
export const formatToken = (token: Token): Redacted.Redacted<string> =>
  Redacted.make(`${prefixes[token.type]}${token.id}_${Redacted.value(token.secret)}`)

/** Returns the SHA-256 of a token's secret in lowercase hex. */
export const hashSecret = (secret: Redacted.Redacted<string>): Effect.Effect<string, never, Digest.Digest> =>
  Effect.flatMap(Digest.Digest, (digest) => digest.digestHex(Digest.sha256, utf8Encode(Redacted.value(secret))))

/** Compares two hashes in time that does not depend on where they differ. */
export const isSameHash = (a: string, b: string): boolean => Mac.timingSafeEqual(utf8Encode(a), utf8Encode(b))
