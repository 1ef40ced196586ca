/**
 * Tokens: what a client presents (specification, "Authentication").
 *
 * A token names its credential by id and proves it by a secret. Stores keep the secret's SHA-256 only, which
 * suffices because a secret is 32 random bytes: there is nothing to guess.
 */
import { Effect, Redacted } from "effect"
import { Digest, Mac, SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { utf8Encode } from "../ids/Utf8.ts"

const prefixes = { "api-key": "svc_", session: "s_", "service-key": "" } as const

export type TokenType = keyof typeof prefixes

export interface Token {
  readonly type: TokenType
  /** The id of the credential, a UUID in lowercase. */
  readonly id: string
  readonly secret: Redacted.Redacted<string>
}

// The secret may hold `_` itself, so the id is found by its shape.
const tokenShape = /^(svc_|s_|)([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})_([\w.~+/=-]{1,256})$/i

/** The parts of a token, or null for text that is none. */
export const parseToken = (text: string): Token | null => {
  const [, prefix, id, secret] = tokenShape.exec(text) ?? []
  if (prefix === undefined || id === undefined || secret === undefined) return null
  const type = prefix === "svc_" ? "api-key" : prefix === "s_" ? "session" : "service-key"
  return prefix === prefixes[type] ? { type, id: id.toLowerCase(), secret: Redacted.make(secret) } : null
}

/** A new token for the credential `id`: 32 random bytes, Base64url. */
export const mintToken = (type: TokenType, id: string): Effect.Effect<Token, never, SecureRandom.SecureRandom> =>
  Effect.flatMap(SecureRandom.SecureRandom, (random) =>
    Effect.map(random.randomBytes(32), (bytes) => ({ type, id, secret: Redacted.make(Base64Url.encode(bytes)) }))
  )

/** The text of a token, as it is shown once. */
export const formatToken = (token: Token): Redacted.Redacted<string> =>
  Redacted.make(`${prefixes[token.type]}${token.id}_${Redacted.value(token.secret)}`)

/** The SHA-256 of a token's secret, lowercase hex. */
export const hashSecret = (secret: Redacted.Redacted<string>): Effect.Effect<string, never, Digest.Digest> =>
  Effect.flatMap(Digest.Digest, (digest) => digest.digestHex(Digest.sha256, utf8Encode(Redacted.value(secret))))

/** Compares two hashes in time that does not depend on where they differ. */
export const isSameHash = (a: string, b: string): boolean => Mac.timingSafeEqual(utf8Encode(a), utf8Encode(b))
