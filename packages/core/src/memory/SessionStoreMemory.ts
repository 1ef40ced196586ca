/** `SessionStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound } from "../foundation/Errors.ts"
import type { ApiKeyId } from "../foundation/Ids.ts"
import type { Timestamp } from "../foundation/time/Timestamp.ts"
import type { Session } from "../tenants/access/Session.ts"
import { SessionStore } from "../tenants/access/SessionStore.ts"
import { compareText, MemoryDatabase, toPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<SessionStore, never, MemoryDatabase> = Layer.effect(
  SessionStore,
  Effect.gen(function* () {
    const { sessions } = yield* MemoryDatabase

    const findActive = (apiKeyId: ApiKeyId, now: Timestamp): ReadonlyArray<Session> =>
      [...sessions.values()].filter((session) => session.api_key_id === apiKeyId && now < session.expires_at)

    return SessionStore.of({
      insert: (session, now, activeMax) =>
        Effect.sync(() => {
          if (findActive(session.api_key_id, now).length >= activeMax) return false
          sessions.set(session.session_id, session)
          return true
        }),

      find: (id) =>
        Effect.suspend(() => {
          const session = sessions.get(id)
          return session === undefined ? Effect.fail(notFound) : Effect.succeed(session)
        }),

      list: (apiKeyId, now, page) => Effect.sync(() => toPage([...findActive(apiKeyId, now)].sort(newestFirst), page)),

      remove: (apiKeyId, id, now) =>
        Effect.suspend(() => {
          const session = sessions.get(id)
          if (session?.api_key_id !== apiKeyId || session.expires_at <= now) return Effect.fail(notFound)
          sessions.delete(id)
          return Effect.void
        }),

      removeAll: (apiKeyId, now) =>
        Effect.sync(() => {
          const active = findActive(apiKeyId, now).map((session) => session.session_id)
          for (const session of sessions.values()) {
            if (session.api_key_id === apiKeyId) sessions.delete(session.session_id)
          }
          return active
        }),

      removeExpired: (now, limit) =>
        Effect.sync(() => {
          const expired = [...sessions.values()].filter((session) => session.expires_at < now).slice(0, limit)
          for (const session of expired) sessions.delete(session.session_id)
          return expired.length
        })
    })
  })
)

const notFound = new NotFound({ resource: "session" })

const newestFirst = (a: Session, b: Session): number => compareText(b.session_id, a.session_id)
