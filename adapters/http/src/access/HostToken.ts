/** Tokens that the host configures: their format, and their verification by hashes in constant time. */
import { Unauthorized } from "@weft/core"
import { Effect, Redacted } from "effect"
import { Digest, Mac } from "effect/crypto"

/** True for 16 to 512 visible ASCII characters without spaces. Others are easy to guess, or no client can send them. */
export const isHostToken = (token: string): boolean => /^[\x21-\x7e]{16,512}$/.test(token)

/** Returns a function that checks a token against the expected one. */
export const makeTokenCheck = (
  expected: Redacted.Redacted
): Effect.Effect<(given: Redacted.Redacted) => Effect.Effect<void, Unauthorized>, never, Digest.Digest> =>
  Effect.gen(function* () {
    const digest = yield* Digest.Digest
    const hash = (token: Redacted.Redacted) =>
      digest.digest(Digest.sha256, new TextEncoder().encode(Redacted.value(token)))
    const expectedHash = yield* hash(expected)
    return (given) =>
      Effect.flatMap(hash(given), (givenHash) =>
        Mac.timingSafeEqual(givenHash, expectedHash) ? Effect.void : Effect.fail(new Unauthorized({}))
      )
  })
