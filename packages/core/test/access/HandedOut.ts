/** API keys that act, and what they hand out. */
import { Effect, Redacted } from "effect"
import { ApiKeys } from "../../src/access/ApiKeys.ts"
import { Caller, type Identity } from "../../src/access/Caller.ts"
import { Credentials } from "../../src/access/Credentials.ts"
import { type NewServiceKey, ServiceKeys } from "../../src/access/ServiceKeys.ts"
import { type NewSession, Sessions } from "../../src/access/Sessions.ts"
import type { EnvId } from "../../src/ids/Ids.ts"

/** A new API key of the environment: its record, its token, and how to act as whoever it is at that time. */
export const newApiKey = Effect.fnUntraced(function* (envId: EnvId, permissions?: unknown) {
  const { key, token } = yield* ApiKeys.use((keys) =>
    keys.create(envId, permissions === undefined ? {} : { permissions })
  )
  return { key, token: Redacted.value(token), as: acting(Redacted.value(token)) }
})

/** As whoever holds the token at that time. */
export const acting =
  (token: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(authenticate(token), (identity) => asIdentity(identity)(effect))

export const asIdentity =
  (identity: Identity) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Caller>> =>
    Effect.provideService(effect, Caller, identity)

export const authenticate = (token: string) => Credentials.use((credentials) => credentials.authenticate(token))

/** A session or a service key. */
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
