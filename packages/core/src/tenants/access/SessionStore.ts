/** Storage of sessions. A session is active until it expires; revocation removes it. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { ApiKeyId, SessionId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Session } from "./Session.ts"

export class SessionStore extends Context.Service<
  SessionStore,
  {
    /** Stores a session. Returns false and stores nothing if the API key has `activeMax` active sessions at `now`. */
    readonly insert: (session: Session, now: Timestamp, activeMax: number) => Effect.Effect<boolean, StoreUnavailable>
    /** Reads a session of any environment, for authentication. */
    readonly find: (id: SessionId) => Effect.Effect<Session, NotFound | StoreUnavailable>
    /** Returns the active sessions of an API key, newest first. */
    readonly list: (
      apiKeyId: ApiKeyId,
      now: Timestamp,
      page: PageRequest
    ) => Effect.Effect<Page<Session>, StoreUnavailable>
    /** Removes an active session. `NotFound` if the API key has no such session. */
    readonly remove: (
      apiKeyId: ApiKeyId,
      id: SessionId,
      now: Timestamp
    ) => Effect.Effect<void, NotFound | StoreUnavailable>
    /** Removes all sessions of an API key, and returns the ids of those that were active. */
    readonly removeAll: (
      apiKeyId: ApiKeyId,
      now: Timestamp
    ) => Effect.Effect<ReadonlyArray<SessionId>, StoreUnavailable>
    /** Removes at most `limit` sessions of any environment that expired before `now`, and returns their number. */
    readonly removeExpired: (now: Timestamp, limit: number) => Effect.Effect<number, StoreUnavailable>
  }
>()("@weft/core/tenants/access/SessionStore") {}
