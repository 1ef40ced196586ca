/** Authenticates bearer tokens as callers, waits for a turn of their environment, and applies the rate of the plan. */
import { Authenticated } from "@weft/api"
import { Caller, type Identity, RateLimits, Unauthorized } from "@weft/core"
import { Turns, takeTurn } from "@weft/core/adapter"
import { Credentials } from "@weft/core/internal"
import { Effect, Layer, Redacted } from "effect"
import { IsConsoleRequest } from "../console/ConsoleRequests.ts"

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
              Effect.andThen(
                admit(identity),
                Effect.flatMap(IsConsoleRequest, (isConsole) =>
                  Effect.provideService(httpEffect, Caller, isConsole ? asApiKey(identity) : identity)
                )
              )
            )
      }
    })
  })
)

/** Returns the API key of a session, within the session's permissions. */
const asApiKey = (identity: Identity): Identity => {
  const { parent, ...session } = identity
  return parent === undefined ? identity : { ...session, type: "api-key", id: parent, metadata: null }
}

const unauthorized = Effect.fail(new Unauthorized({}))
