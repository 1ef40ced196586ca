/** Authentication of the admin routes by the host's own token. A server without a token has no admin routes. */
import { AdminAuthenticated } from "@weft/api"
import { NotFound } from "@weft/core"
import { CurrentOrigin } from "@weft/core/adapter"
import { Refusals } from "@weft/core/internal"
import { Effect, Layer, type Redacted } from "effect"
import type { Digest } from "effect/crypto"
import { requireUtf8Query } from "../encoding/UrlEncoding.ts"
import { makeTokenCheck } from "./HostToken.ts"

export const adminAuthenticatedLive = (
  adminToken: Redacted.Redacted | null
): Layer.Layer<AdminAuthenticated, never, Digest.Digest | Refusals> =>
  Layer.effect(
    AdminAuthenticated,
    Effect.gen(function* () {
      if (adminToken === null) {
        return AdminAuthenticated.of({ adminBearer: () => Effect.fail(new NotFound({ resource: "route" })) })
      }
      const check = yield* makeTokenCheck(adminToken)
      const refusals = yield* Refusals
      const asAdmin = Effect.updateService(CurrentOrigin, (origin) => ({ ...origin, isAdmin: true }))
      return AdminAuthenticated.of({
        adminBearer: (httpEffect, { credential }) =>
          Effect.andThen(
            Effect.tapError(check(credential), () => refusals.credential(null)),
            Effect.andThen(requireUtf8Query, asAdmin(httpEffect))
          )
      })
    })
  )
