/** The host's own token. Compared by hash, in constant time; a server without one has no admin routes. */
import { AdminAuthenticated } from "@weft/api"
import { NotFound, Unauthorized } from "@weft/core"
import { Effect, Layer, Redacted } from "effect"
import { Digest, Mac } from "effect/crypto"

export const adminAuthenticatedLive = (
  adminToken: Redacted.Redacted | null
): Layer.Layer<AdminAuthenticated, never, Digest.Digest> =>
  Layer.effect(
    AdminAuthenticated,
    Effect.gen(function* () {
      const digest = yield* Digest.Digest
      const hash = (token: Redacted.Redacted) =>
        digest.digest(Digest.sha256, new TextEncoder().encode(Redacted.value(token)))
      if (adminToken === null) {
        return AdminAuthenticated.of({ adminBearer: () => Effect.fail(new NotFound({ resource: "route" })) })
      }
      const expected = yield* hash(adminToken)
      return AdminAuthenticated.of({
        adminBearer: (httpEffect, { credential }) =>
          Effect.gen(function* () {
            const given = yield* hash(credential)
            if (!Mac.timingSafeEqual(given, expected)) return yield* new Unauthorized({})
            return yield* httpEffect
          })
      })
    })
  )
