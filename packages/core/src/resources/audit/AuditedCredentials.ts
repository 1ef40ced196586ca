/** Authentication that records rejected tokens in the audit log. */
import { Effect, Layer } from "effect"
import { Credentials } from "../../tenants/access/Credentials.ts"
import { Refusals } from "./Refusals.ts"

export const auditedCredentials: Layer.Layer<Credentials, never, Credentials | Refusals> = Layer.effect(
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
