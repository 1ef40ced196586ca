/** The host's own token. A server without one has no admin routes. */
import { AdminAuthenticated } from "@weft/api"
import { CurrentOrigin, NotFound, Refusals } from "@weft/core"
import { Effect, Layer, type Redacted } from "effect"
import type { Digest } from "effect/crypto"
import { hostToken } from "./HostToken.ts"

export const adminAuthenticatedLive = (
  adminToken: Redacted.Redacted | null
): Layer.Layer<AdminAuthenticated, never, Digest.Digest | Refusals> =>
  Layer.effect(
    AdminAuthenticated,
    Effect.gen(function* () {
      if (adminToken === null) {
        return AdminAuthenticated.of({ adminBearer: () => Effect.fail(new NotFound({ resource: "route" })) })
      }
      const check = yield* hostToken(adminToken)
      const refusals = yield* Refusals
      const asAdmin = Effect.updateService(CurrentOrigin, (origin) => ({ ...origin, isAdmin: true }))
      return AdminAuthenticated.of({
        adminBearer: (httpEffect, { credential }) =>
          Effect.andThen(
            Effect.tapError(check(credential), () => refusals.credential(null)),
            asAdmin(httpEffect)
          )
      })
    })
  )
