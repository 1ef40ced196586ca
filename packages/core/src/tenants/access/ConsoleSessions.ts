/**
 * Sign-in of people to the console.
 *
 * An API key is exchanged for a session of the specification. The browser stores its token in a signed ticket, which only
 * this service issues. A ticket stands for the API key within the permissions of its session: it also lists and revokes
 * sessions and service keys. A session that was created otherwise is no ticket, so it gains nothing here.
 */
import { Clock, Context, Effect, Layer, Redacted, type Schema } from "effect"
import {
  BadRequest,
  type Forbidden,
  type NotFound,
  type PermissionEscalation,
  type SessionLimitExceeded,
  type StoreUnavailable,
  Unauthorized
} from "../../foundation/Errors.ts"
import type { ApiKeyId, EnvId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { Keyring } from "../../platform/encryption/Keyring.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { Caller, type Identity } from "./Caller.ts"
import { Credentials } from "./Credentials.ts"
import { PermissionMap } from "./Permission.ts"
import { Sessions } from "./Sessions.ts"
import { parseToken } from "./Token.ts"

export interface ConsoleTicket {
  /** The cookie's value. */
  readonly ticket: Redacted.Redacted<string>
  readonly signedInAt: Timestamp
  /** End of the session, unless it is renewed. */
  readonly expiresAt: Timestamp
}

export interface OpenedTicket {
  /** The API key, with the permissions of the session. */
  readonly identity: Identity
  /** Token of the session. */
  readonly token: Redacted.Redacted<string>
  readonly sessionId: string
  readonly signedInAt: Timestamp
}

type Refused =
  | Unauthorized
  | BadRequest
  | Forbidden
  | NotFound
  | PermissionEscalation
  | SessionLimitExceeded
  | StoreUnavailable

export class ConsoleSessions extends Context.Service<
  ConsoleSessions,
  {
    /** Signs in with the token of an API key. `agent` describes the browser, for the list of sessions. */
    readonly signIn: (token: Redacted.Redacted<string>, agent: string | null) => Effect.Effect<ConsoleTicket, Refused>
    /** Signs in the host, as an API key of the environment with the name `console`, which it creates if necessary. */
    readonly signInHost: (envId: EnvId, agent: string | null) => Effect.Effect<ConsoleTicket, Refused>
    /** Returns the caller of a ticket. `Unauthorized` after its session has ended. */
    readonly open: (ticket: string) => Effect.Effect<OpenedTicket, Unauthorized | StoreUnavailable>
    /** Replaces the session of a ticket by a new one. `Unauthorized` 12 hours after the sign-in. */
    readonly renew: (ticket: string, agent: string | null) => Effect.Effect<ConsoleTicket, Refused>
    /** Revokes the session of a ticket. */
    readonly end: (ticket: string) => Effect.Effect<void, Refused>
  }
>()("@weft/core/tenants/access/ConsoleSessions") {
  static readonly layer: Layer.Layer<ConsoleSessions, never, Sessions | ApiKeys | Credentials | Keyring> = Layer.effect(
    ConsoleSessions,
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const apiKeys = yield* ApiKeys
      const credentials = yield* Credentials
      const keyring = yield* Keyring

      const begin = Effect.fnUntraced(function* (key: Identity, signedInAt: Timestamp, agent: string | null) {
        const now = yield* Clock.currentTimeMillis
        const seconds = Math.min(sessionSeconds, Math.floor((signedInAt + signInMs - now) / 1000))
        if (seconds < 1) return yield* new Unauthorized()
        const { session, token } = yield* Effect.provideService(
          sessions.create({
            permissions: key.permissions,
            metadata: toMetadata(signedInAt, agent),
            expires_in: seconds
          }),
          Caller,
          withSessionRights(key)
        )
        const text = Redacted.value(token)
        const signature = yield* keyring.sign(signedText(text, signedInAt))
        return {
          ticket: Redacted.make(`${text}.${signedInAt}.${signature}`),
          signedInAt,
          expiresAt: session.expires_at
        }
      })

      const open = Effect.fnUntraced(function* (ticket: string) {
        const parts = parseTicket(ticket)
        if (parts === null || !(yield* keyring.isSigned(signedText(parts.token, parts.signedInAt), parts.signature))) {
          return yield* new Unauthorized()
        }
        const session = yield* credentials.authenticate(parts.token)
        const { parent, env_id, permissions } = session
        if (parent === undefined) return yield* new Unauthorized()
        const identity: Identity = { env_id, type: "api-key", id: parent, permissions, metadata: null }
        return {
          identity,
          token: Redacted.make(parts.token),
          sessionId: parseToken(parts.token)?.id ?? "",
          signedInAt: parts.signedInAt
        }
      })

      const revoke = ({ identity, sessionId }: OpenedTicket) => {
        const revoked = Effect.provideService(sessions.revoke(sessionId), Caller, withSessionRights(identity))
        // Another request may have revoked it.
        return Effect.catchTag(revoked, "NotFound", () => Effect.void)
      }

      const currentTime = Effect.map(Clock.currentTimeMillis, (now) => Timestamp.make(now))

      return ConsoleSessions.of({
        signIn: Effect.fnUntraced(function* (token, agent) {
          const identity = yield* credentials.authenticate(Redacted.value(token))
          if (identity.type !== "api-key") return yield* apiKeyOnly
          return yield* begin(identity, yield* currentTime, agent)
        }),

        signInHost: Effect.fnUntraced(function* (envId, agent) {
          const { items } = yield* apiKeys.list(envId, { limit: 1000, offset: 0 })
          const key = items.find(({ name }) => name === hostKeyName) ?? (yield* createHostKey(apiKeys, envId))
          const identity = yield* apiKeys.identity(envId, key.api_key_id)
          return yield* begin(identity, yield* currentTime, agent)
        }),

        open,

        renew: Effect.fnUntraced(function* (ticket, agent) {
          const opened = yield* open(ticket)
          const renewed = yield* begin(opened.identity, opened.signedInAt, agent)
          yield* revoke(opened)
          return renewed
        }),

        end: (ticket) => Effect.flatMap(open(ticket), revoke)
      })
    })
  )
}

/** API keys, sessions, and the sign-in to the console, which uses both. */
export const consoleSessionsLayer = Layer.provideMerge(
  ConsoleSessions.layer,
  Layer.mergeAll(ApiKeys.layer, Sessions.layer)
)

/** Lifetime of a session. The console renews it while its page is open. */
const sessionSeconds = 3600

/** Maximum time between sign-ins, in milliseconds. */
const signInMs = 12 * 3600 * 1000

const agentLengthMax = 200

const hostKeyName = "console"

const apiKeyOnly = new BadRequest({
  reason: "token must be that of an API key: sessions and service keys cannot sign in"
})

const createHostKey = (
  apiKeys: ApiKeys["Service"],
  envId: EnvId
): Effect.Effect<{ readonly api_key_id: ApiKeyId }, BadRequest | NotFound | StoreUnavailable> =>
  Effect.map(apiKeys.create(envId, { name: hostKeyName }), ({ key }) => key)

/** Adds the rights that a key needs for its own sign-in. The session itself has only those of the key. */
const withSessionRights = (key: Identity): Identity => ({
  ...key,
  permissions: PermissionMap.make(Object.fromEntries([...Object.entries(key.permissions), ["session:*", ["*"]]]))
})

const toMetadata = (signedInAt: Timestamp, agent: string | null): Schema.Json => ({
  console: { signed_in_at: new Date(signedInAt).toISOString(), agent: agent?.slice(0, agentLengthMax) ?? null }
})

/** Returns the text that is signed. A token contains no space, so the text is unambiguous. */
const signedText = (token: string, signedInAt: Timestamp): string => `console ${token} ${signedInAt}`

const ticketShape = /^(s_[\w-]+)\.(\d{1,15})\.([\w-]+)$/

const parseTicket = (ticket: string) => {
  const [, token, time, signature] = ticketShape.exec(ticket) ?? []
  if (token === undefined || time === undefined || signature === undefined) return null
  return { token, signedInAt: Timestamp.make(Number(time)), signature }
}
