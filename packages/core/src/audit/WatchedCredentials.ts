/** Authentication, with what it refuses counted in the audit log. */
import { Effect, Layer } from "effect"
import { Credentials } from "../access/Credentials.ts"
import { Refusals } from "./Refusals.ts"

export const watchedCredentials: Layer.Layer<Credentials, never, Credentials | Refusals> = Layer.effect(
  Credentials,
  Effect.gen(function* () {
    const credentials = yield* Credentials
    const refusals = yield* Refusals
    return Credentials.of({
      ...credentials,
      authenticate: (token) =>
        Effect.tapError(credentials.authenticate(token), (error) =>
          error._tag === "Unauthorized" ? refusals.credential(token) : Effect.void
        )
    })
  })
)
