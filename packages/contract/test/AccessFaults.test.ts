/** Stores of sessions and service keys with one fault each, of which the contract must notice every one. */
import { apiKeyStoreChecks, serviceKeyStoreChecks, sessionStoreChecks } from "@weft/contract"
import {
  NotFound,
  type ServiceKey,
  type ServiceKeyId,
  ServiceKeyStore,
  type Session,
  type SessionId,
  SessionStore
} from "@weft/core"
import { Effect } from "effect"
import { apiKeyId, at, everything } from "../src/Samples.ts"
import { faulty, notices } from "./Faults.ts"

notices("the contract of sessions", sessionStoreChecks, {
  "has no limit": faulty(SessionStore, (store) => ({
    insert: (session, now) => store.insert(session, now, 1_000_000)
  })),
  "counts expired ones": faulty(SessionStore, (store) => ({
    insert: (session, _, activeMax) => store.insert(session, at(0), activeMax)
  })),
  "looks at the limit before it waits": faulty(SessionStore, (store) => ({
    insert: (session, now, activeMax) =>
      Effect.flatMap(store.list(session.api_key_id, now, everything), ({ total }) =>
        total >= activeMax ? Effect.succeed(false) : Effect.andThen(Effect.yieldNow, store.insert(session, now, 1e6))
      )
  })),
  "counts those of all API keys together": faulty(SessionStore, (store) => ({
    insert: (session, now, activeMax) =>
      Effect.flatMap(
        Effect.forEach([1, 2], (n) => store.list(apiKeyId(n), now, everything)),
        (pages) =>
          pages.reduce((sum, { total }) => sum + total, 0) >= activeMax
            ? Effect.succeed(false)
            : store.insert(session, now, activeMax)
      )
  })),
  "lists expired ones": faulty(SessionStore, (store) => ({ list: (key, _, page) => store.list(key, at(0), page) })),
  "lists the oldest first": faulty(SessionStore, (store) => ({
    list: (key, now, page) =>
      Effect.map(store.list(key, now, page), ({ items, total }) => ({ items: items.toReversed(), total }))
  })),
  "takes the page for all": faulty(SessionStore, (store) => ({
    list: (key, now, page) => Effect.map(store.list(key, now, page), ({ items }) => ({ items, total: items.length }))
  })),
  "removes those of other API keys": faulty(SessionStore, (store) => ({
    remove: (_, id, now) => store.remove(apiKeyId(1), id, now)
  })),
  "removes expired ones as if they were active": faulty(SessionStore, (store) => ({
    remove: (key, id) => store.remove(key, id, at(0))
  })),
  "tells of expired ones that it removed": faulty(SessionStore, (store) => ({
    removeAll: (key) => store.removeAll(key, at(0))
  })),
  "removes those that end at this instant": faulty(SessionStore, (store) => ({
    removeExpired: (now, limit) => store.removeExpired(at(Number(now) - Number(at(0)) + 1), limit)
  })),
  "removes all expired ones at once": faulty(SessionStore, (store) => ({
    removeExpired: (now) => store.removeExpired(now, 1000)
  }))
})

notices("the contract of service keys", serviceKeyStoreChecks, {
  "reads those of other API keys": faulty(ServiceKeyStore, (store) => ({ get: (_, id) => store.find(id) })),
  "revokes those of other API keys": faulty(ServiceKeyStore, (store) => ({
    revoke: (_, id, now) => store.revoke(apiKeyId(1), id, now)
  })),
  "revokes twice": faulty(ServiceKeyStore, (store) => ({
    revoke: (key, id, now) => Effect.catchTag(store.revoke(key, id, now), "NotFound", () => Effect.void)
  })),
  "lists only those that were not revoked": faulty(ServiceKeyStore, (store) => ({
    list: (key, page) =>
      Effect.map(store.list(key, page), ({ items, total }) => ({
        items: items.filter((one) => one.revoked_at === null),
        total
      }))
  })),
  "lists the oldest first": faulty(ServiceKeyStore, (store) => ({
    list: (key, page) => Effect.map(store.list(key, page), ({ items, total }) => ({ items: items.toReversed(), total }))
  })),
  "revokes expired ones with all": faulty(ServiceKeyStore, (store) => ({
    revokeAll: (key) => store.revokeAll(key, at(0))
  })),
  "revokes all without telling": faulty(ServiceKeyStore, (store) => ({
    revokeAll: (key, now) => Effect.as(store.revokeAll(key, now), [])
  }))
})

notices("the contract of API keys, with what they hand out,", apiKeyStoreChecks, {
  "keeps the sessions of a removed key": faulty(SessionStore, (store) => {
    const kept = new Map<SessionId, Session>()
    return {
      insert: (session, now, activeMax) => {
        kept.set(session.session_id, session)
        return store.insert(session, now, activeMax)
      },
      find: (id) => Effect.mapError(Effect.fromNullishOr(kept.get(id)), () => new NotFound({ resource: "session" }))
    }
  }),
  "keeps the service keys of a removed key": faulty(ServiceKeyStore, (store) => {
    const kept = new Map<ServiceKeyId, ServiceKey>()
    return {
      insert: (key) => {
        kept.set(key.service_key_id, key)
        return store.insert(key)
      },
      find: (id) => Effect.mapError(Effect.fromNullishOr(kept.get(id)), () => new NotFound({ resource: "service key" }))
    }
  })
})
