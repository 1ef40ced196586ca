/** Where sessions live. One is active until it expires; a revoked one is removed. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../errors/Errors.ts"
import type { ApiKeyId, SessionId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { Session } from "./Session.ts"

export class SessionStore extends Context.Service<
  SessionStore,
  {
    /** False, and nothing is stored, when the API key has `activeMax` sessions that are active at `now`. */
    readonly insert: (session: Session, now: Timestamp, activeMax: number) => Effect.Effect<boolean, StoreUnavailable>
    /** Reads one session of whatever environment: the look-up behind authentication. */
    readonly find: (id: SessionId) => Effect.Effect<Session, NotFound | StoreUnavailable>
    /** The active ones of an API key, newest first. */
    readonly list: (
      apiKeyId: ApiKeyId,
      now: Timestamp,
      page: PageRequest
    ) => Effect.Effect<Page<Session>, StoreUnavailable>
    /** `NotFound` when the API key has no such active session. */
    readonly remove: (
      apiKeyId: ApiKeyId,
      id: SessionId,
      now: Timestamp
    ) => Effect.Effect<void, NotFound | StoreUnavailable>
    /** Removes all of an API key; the ids of those that were active. */
    readonly removeAll: (
      apiKeyId: ApiKeyId,
      now: Timestamp
    ) => Effect.Effect<ReadonlyArray<SessionId>, StoreUnavailable>
    /** Removes at most `limit` sessions that expired before `now`, of any environment; how many. */
    readonly removeExpired: (now: Timestamp, limit: number) => Effect.Effect<number, StoreUnavailable>
  }
>()("@weft/core/access/SessionStore") {}
