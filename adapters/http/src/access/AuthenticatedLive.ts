/** Bearer tokens become callers, as often as their organization's plan allows. */
import { Authenticated } from "@weft/api"
import { Caller, Credentials, type Identity, RateLimits, Unauthorized } from "@weft/core"
import { Effect, Layer, Redacted } from "effect"

export const AuthenticatedLive: Layer.Layer<Authenticated, never, Credentials | RateLimits> = Layer.effect(
  Authenticated,
  Effect.gen(function* () {
    const credentials = yield* Credentials
    const rates = yield* RateLimits

    const admit = (identity: Identity) =>
      // A credential of an environment that is not there is one of nothing.
      Effect.catchTag(rates.check(identity.env_id), "NotFound", () => unauthorized)

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
