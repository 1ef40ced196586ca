/** Authenticates bearer tokens as callers, waits for a turn of their environment, and applies the rate of the plan. */
import { Authenticated } from "@weft/api"
import { Caller, type Identity, RateLimits, Unauthorized } from "@weft/core"
import { Turns, takeTurn } from "@weft/core/adapter"
import { Credentials } from "@weft/core/internal"
import { Effect, Layer, Redacted } from "effect"

export const AuthenticatedLive: Layer.Layer<Authenticated, never, Credentials | RateLimits> = Layer.effect(
  Authenticated,
  Effect.gen(function* () {
    const credentials = yield* Credentials
    const rates = yield* RateLimits
    const turns = yield* Turns

    const admit = (identity: Identity) =>
      Effect.andThen(
        takeTurn(turns, identity.env_id, "request"),
        // A credential whose environment does not exist is invalid.
        Effect.catchTag(rates.check(identity.env_id), "NotFound", () => unauthorized)
      )

    return Authenticated.of({
      bearer: (httpEffect, { credential }) => {
        const token = Redacted.value(credential)
        return token === ""
          ? unauthorized
          : Effect.flatMap(credentials.authenticate(token), (identity) =>
              Effect.andThen(admit(identity), Effect.provideService(httpEffect, Caller, identity))
            )
      }
    })
  })
)

const unauthorized = Effect.fail(new Unauthorized({}))
