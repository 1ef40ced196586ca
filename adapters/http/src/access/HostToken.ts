/** Tokens that the host set itself. Compared by hash, in constant time. */
import { Unauthorized } from "@weft/core"
import { Effect, Redacted } from "effect"
import { Digest, Mac } from "effect/crypto"

/** How to check a token against the one expected. */
export const hostToken = (
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
