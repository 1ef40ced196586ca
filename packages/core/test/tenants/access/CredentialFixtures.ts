/** API keys, and sessions and service keys that they create. */
import { Effect, Redacted } from "effect"
import type { EnvId } from "../../../src/foundation/Ids.ts"
import { ApiKeys } from "../../../src/tenants/access/ApiKeys.ts"
import { Caller, type Identity } from "../../../src/tenants/access/Caller.ts"
import { Credentials } from "../../../src/tenants/access/Credentials.ts"
import { type NewServiceKey, ServiceKeys } from "../../../src/tenants/access/ServiceKeys.ts"
import { type NewSession, Sessions } from "../../../src/tenants/access/Sessions.ts"

/** Creates an API key. Returns its record, its token, and a function that acts with its current identity. */
export const newApiKey = Effect.fnUntraced(function* (envId: EnvId, permissions?: unknown) {
  const { key, token } = yield* ApiKeys.use((keys) =>
    keys.create(envId, permissions === undefined ? {} : { permissions })
  )
  return { key, token: Redacted.value(token), as: acting(Redacted.value(token)) }
})

/** Runs an effect with the current identity of a token. */
export const acting =
  (token: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(authenticate(token), (identity) => asIdentity(identity)(effect))

export const asIdentity =
  (identity: Identity) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Caller>> =>
    Effect.provideService(effect, Caller, identity)

export const authenticate = (token: string) => Credentials.use((credentials) => credentials.authenticate(token))

/** A new session or service key with its token. */
export interface Made<Shown> {
  readonly id: string
  readonly token: string
  readonly shown: Shown
}

export const newSession = (input: NewSession) =>
  Effect.map(
    Sessions.use((sessions) => sessions.create(input)),
    ({ session, token }) => ({ id: session.session_id, token: Redacted.value(token), shown: session })
  )

export const newServiceKey = (input: NewServiceKey) =>
  Effect.map(
    ServiceKeys.use((keys) => keys.create(input)),
    ({ key, token }) => ({ id: key.service_key_id, token: Redacted.value(token), shown: key })
  )
