/**
 * Sessions: short-lived credentials (specification, "Sessions").
 *
 * Only an API key has any: every method is about the sessions of the calling key.
 */
import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import type { Digest, SecureRandom } from "effect/crypto"
import { Keyring } from "../encryption/Keyring.ts"
import {
  type BadRequest,
  type Forbidden,
  NotFound,
  type PermissionEscalation,
  SessionLimitExceeded,
  type StoreUnavailable
} from "../errors/Errors.ts"
import { toIdOrName } from "../ids/IdOrName.ts"
import { freshIds, SessionId } from "../ids/Ids.ts"
import type { JsonText } from "../ids/JsonText.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import { addMillis, now as currentTime } from "../ids/Timestamp.ts"
import { type Caller, requireApiKey } from "./Caller.ts"
import { Credentials } from "./Credentials.ts"
import { delegate, lifetime } from "./Delegation.ts"
import { checkMetadata, sealMetadata, showMetadata } from "./Metadata.ts"
import { Session, sessionPlace } from "./Session.ts"
import { SessionStore } from "./SessionStore.ts"
import { formatToken, hashSecret, mintToken } from "./Token.ts"

export interface NewSession {
  /** A permission map, a subset of the calling key's. */
  readonly permissions: unknown
  /** At most 64 KiB as JSON text; none by default. */
  readonly metadata?: Schema.Json
  /** Seconds, 1 to 86400; default 3600. */
  readonly expires_in?: number
}

/** A session as it is shown to its API key. */
export interface ShownSession extends Pick<Session, "session_id" | "permissions" | "expires_at" | "created_at"> {
  readonly metadata: JsonText
}

type Denied = Forbidden | StoreUnavailable

export class Sessions extends Context.Service<
  Sessions,
  {
    /** Needs `session: create`. The token is shown here and never again. */
    readonly create: (
      input: NewSession
    ) => Effect.Effect<
      { readonly session: ShownSession; readonly token: Redacted.Redacted<string> },
      Denied | BadRequest | PermissionEscalation | SessionLimitExceeded,
      Caller
    >
    /** Needs `session: read`. The active ones, newest first. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<ShownSession>, Denied, Caller>
    /** Needs `session: delete`. `NotFound` for one that is not active or not of the calling key. */
    readonly revoke: (id: string) => Effect.Effect<void, Denied | NotFound, Caller>
    /** Needs `session: delete`. How many were active. */
    readonly revokeAll: Effect.Effect<number, Denied, Caller>
  }
>()("@weft/core/access/Sessions") {
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
          const millis = yield* lifetime(input.expires_in ?? secondsDefault, secondsMax)
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
          // Whoever interrupts this must not leave tokens behind that still work here.
          const ids = yield* Effect.uninterruptible(Effect.tap(removed, (ids) => credentials.changed("session", ids)))
          return ids.length
        })
      })
    })
  )
}

/** Active sessions of one API key (specification, "Limits"). */
const activeMax = 1000

const secondsDefault = 3600
const secondsMax = 86_400

const isSessionId = Schema.is(SessionId)

const noSuchSession = new NotFound({ resource: "session" })
