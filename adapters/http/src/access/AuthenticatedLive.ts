/** Bearer tokens become callers. */
import { Authenticated } from "@weft/api"
import { Caller, Credentials, Unauthorized } from "@weft/core"
import { Effect, Layer, Redacted } from "effect"

export const AuthenticatedLive: Layer.Layer<Authenticated, never, Credentials> = Layer.effect(
  Authenticated,
  Effect.map(Credentials, (credentials) => ({
    bearer: (httpEffect, { credential }) => {
      const token = Redacted.value(credential)
      return token === ""
        ? Effect.fail(new Unauthorized({}))
        : Effect.flatMap(credentials.authenticate(token), (identity) =>
            Effect.provideService(httpEffect, Caller, identity)
          )
    }
  }))
)
