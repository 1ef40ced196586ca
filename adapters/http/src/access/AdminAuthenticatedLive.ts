/** The host's own token. A server without one has no admin routes. */
import { AdminAuthenticated } from "@weft/api"
import { NotFound } from "@weft/core"
import { Effect, Layer, type Redacted } from "effect"
import type { Digest } from "effect/crypto"
import { hostToken } from "./HostToken.ts"

export const adminAuthenticatedLive = (
  adminToken: Redacted.Redacted | null
): Layer.Layer<AdminAuthenticated, never, Digest.Digest> =>
  Layer.effect(
    AdminAuthenticated,
    Effect.gen(function* () {
      if (adminToken === null) {
        return AdminAuthenticated.of({ adminBearer: () => Effect.fail(new NotFound({ resource: "route" })) })
      }
      const check = yield* hostToken(adminToken)
      return AdminAuthenticated.of({
        adminBearer: (httpEffect, { credential }) => Effect.andThen(check(credential), httpEffect)
      })
    })
  )
