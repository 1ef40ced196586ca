/**
 * Sessions: short-lived credentials (specification, "Sessions").
 *
 * Only API keys have sessions. Every method applies to those of the calling API key.
 */
import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import type { Digest, SecureRandom } from "effect/crypto"
import {
  type BadRequest,
  type Forbidden,
  NotFound,
  type PermissionEscalation,
  SessionLimitExceeded,
  type StoreUnavailable
} from "../../foundation/Errors.ts"
import { toIdOrName } from "../../foundation/IdOrName.ts"
import { freshIds, SessionId } from "../../foundation/Ids.ts"
import type { JsonText } from "../../foundation/JsonText.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { addMillis, now as currentTime } from "../../foundation/time/Timestamp.ts"
import { Keyring } from "../../platform/encryption/Keyring.ts"
import { type Caller, requireApiKey } from "./Caller.ts"
import { Credentials } from "./Credentials.ts"
import { delegate, parseLifetime } from "./Delegation.ts"
import { checkMetadata, sealMetadata, showMetadata } from "./Metadata.ts"
import { Session, sessionPlace } from "./Session.ts"
import { SessionStore } from "./SessionStore.ts"
import { formatToken, hashSecret, mintToken } from "./Token.ts"

export interface NewSession {
  /** A permission map: a subset of the permissions of the calling key. */
  readonly permissions: unknown
  /** At most 64 KiB as JSON text; none by default. */
  readonly metadata?: Schema.Json
  /** Lifetime in seconds, 1 to 86400; 3600 by default. */
  readonly expires_in?: number
}

/** A session as returned to its API key. */
export interface ShownSession extends Pick<Session, "session_id" | "permissions" | "expires_at" | "created_at"> {
  readonly metadata: JsonText
}

type Denied = Forbidden | StoreUnavailable

export class Sessions extends Context.Service<
  Sessions,
  {
    /** Creates a session and returns its token, which cannot be read later. Needs `session: create`. */
    readonly create: (
      input: NewSession
    ) => Effect.Effect<
      { readonly session: ShownSession; readonly token: Redacted.Redacted<string> },
      Denied | BadRequest | PermissionEscalation | SessionLimitExceeded,
      Caller
    >
    /** Returns the active sessions, newest first. Needs `session: read`. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<ShownSession>, Denied, Caller>
    /** Revokes a session. `NotFound` if it is not active or belongs to another API key. Needs `session: delete`. */
    readonly revoke: (id: string) => Effect.Effect<void, Denied | NotFound, Caller>
    /** Revokes all sessions and returns the number of active ones. Needs `session: delete`. */
    readonly revokeAll: Effect.Effect<number, Denied, Caller>
  }
>()("@weft/core/tenants/access/Sessions") {
  static readonly layer: Layer.Layer<
    Sessions,
    never,
    SessionStore | Credentials | Keyring | Digest.Digest | SecureRandom.SecureRandom
  > = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const store = yield* SessionStore
      const credentials = yield* Credentials
      const keyring = yield* Keyring
      const freshId = yield* freshIds
      const crypto = yield* Effect.context<Digest.Digest | SecureRandom.SecureRandom>()

      const show = (session: Session): Effect.Effect<ShownSession> => {
        const { session_id, permissions, expires_at, created_at } = session
        return Effect.map(showMetadata(keyring, session.metadata, sessionPlace(session_id)), (metadata) => ({
          session_id,
          permissions,
          metadata,
          expires_at,
          created_at
        }))
      }

      return Sessions.of({
        create: Effect.fnUntraced(function* (input) {
          const caller = yield* requireApiKey("session", "create")
          const permissions = yield* delegate(input.permissions, caller.permissions)
          const millis = yield* parseLifetime(input.expires_in ?? secondsDefault, secondsMax)
          const metadata = yield* checkMetadata(input.metadata)
          const id = yield* freshId(SessionId)
          const token = yield* Effect.provide(mintToken("session", id), crypto)
          const instant = yield* currentTime
          const session = new Session({
            session_id: id,
            env_id: caller.env_id,
            api_key_id: caller.id,
            permissions,
            metadata: yield* sealMetadata(keyring, metadata, sessionPlace(id)),
            secret_hash: yield* Effect.provide(hashSecret(token.secret), crypto),
            expires_at: addMillis(instant, millis),
            created_at: instant
          })
          if (!(yield* store.insert(session, instant, activeMax))) {
            return yield* new SessionLimitExceeded({ limit: activeMax })
          }
          return { session: yield* show(session), token: formatToken(token) }
        }),

        list: Effect.fnUntraced(function* (page) {
          const caller = yield* requireApiKey("session", "read")
          const { items, total } = yield* store.list(caller.id, yield* currentTime, page)
          return { items: yield* Effect.forEach(items, show), total }
        }),

        revoke: Effect.fnUntraced(function* (text) {
          const caller = yield* requireApiKey("session", "delete")
          const id = toIdOrName(text)
          if (!isSessionId(id)) return yield* noSuchSession
          const removed = store.remove(caller.id, id, yield* currentTime)
          yield* Effect.ensuring(removed, credentials.changed("session", [id]))
        }),

        revokeAll: Effect.gen(function* () {
          const caller = yield* requireApiKey("session", "delete")
          const removed = store.removeAll(caller.id, yield* currentTime)
          // An interruption must not leave revoked tokens in the cache of this node.
          const ids = yield* Effect.uninterruptible(Effect.tap(removed, (ids) => credentials.changed("session", ids)))
          return ids.length
        })
      })
    })
  )
}

/** Maximum active sessions per API key (specification, "Limits"). */
const activeMax = 1000

const secondsDefault = 3600
const secondsMax = 86_400

const isSessionId = Schema.is(SessionId)

const noSuchSession = new NotFound({ resource: "session" })
