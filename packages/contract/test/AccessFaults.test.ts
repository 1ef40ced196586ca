/** Stores of sessions and service keys with one fault each, which the contract must detect. */
import { apiKeyStoreChecks, serviceKeyStoreChecks, sessionStoreChecks } from "@weft/contract"
import { NotFound } from "@weft/core"
import {
  type ServiceKey,
  type ServiceKeyId,
  ServiceKeyStore,
  type Session,
  type SessionId,
  SessionStore
} from "@weft/core/adapter"
import { Effect } from "effect"
import { apiKeyId, at, everything } from "../src/Samples.ts"
import { detects, faulty } from "./Faults.ts"

detects("the contract of sessions", sessionStoreChecks, {
  "has no limit": faulty(SessionStore, (store) => ({
    insert: (session, now) => store.insert(session, now, 1_000_000)
  })),
  "counts expired sessions": faulty(SessionStore, (store) => ({
    insert: (session, _, activeMax) => store.insert(session, at(0), activeMax)
  })),
  "checks the limit before it waits": faulty(SessionStore, (store) => ({
    insert: (session, now, activeMax) =>
      Effect.flatMap(store.list(session.api_key_id, now, everything), ({ total }) =>
        total >= activeMax ? Effect.succeed(false) : Effect.andThen(Effect.yieldNow, store.insert(session, now, 1e6))
      )
  })),
  "counts the sessions of all API keys together": faulty(SessionStore, (store) => ({
    insert: (session, now, activeMax) =>
      Effect.flatMap(
        Effect.forEach([1, 2], (n) => store.list(apiKeyId(n), now, everything)),
        (pages) =>
          pages.reduce((sum, { total }) => sum + total, 0) >= activeMax
            ? Effect.succeed(false)
            : store.insert(session, now, activeMax)
      )
  })),
  "lists expired sessions": faulty(SessionStore, (store) => ({ list: (key, _, page) => store.list(key, at(0), page) })),
  "lists the oldest first": faulty(SessionStore, (store) => ({
    list: (key, now, page) =>
      Effect.map(store.list(key, now, page), ({ items, total }) => ({ items: items.toReversed(), total }))
  })),
  "returns the page size as the total": faulty(SessionStore, (store) => ({
    list: (key, now, page) => Effect.map(store.list(key, now, page), ({ items }) => ({ items, total: items.length }))
  })),
  "removes sessions of other API keys": faulty(SessionStore, (store) => ({
    remove: (_, id, now) => store.remove(apiKeyId(1), id, now)
  })),
  "removes expired sessions as active ones": faulty(SessionStore, (store) => ({
    remove: (key, id) => store.remove(key, id, at(0))
  })),
  "returns expired sessions among the removed ones": faulty(SessionStore, (store) => ({
    removeAll: (key) => store.removeAll(key, at(0))
  })),
  "removes sessions that expire at this instant": faulty(SessionStore, (store) => ({
    removeExpired: (now, limit) => store.removeExpired(at(Number(now) - Number(at(0)) + 1), limit)
  })),
  "removes more expired sessions than the limit": faulty(SessionStore, (store) => ({
    removeExpired: (now) => store.removeExpired(now, 1000)
  }))
})

detects("the contract of service keys", serviceKeyStoreChecks, {
  "reads keys of other API keys": faulty(ServiceKeyStore, (store) => ({ get: (_, id) => store.find(id) })),
  "revokes keys of other API keys": faulty(ServiceKeyStore, (store) => ({
    revoke: (_, id, now) => store.revoke(apiKeyId(1), id, now)
  })),
  "revokes twice": faulty(ServiceKeyStore, (store) => ({
    revoke: (key, id, now) => Effect.catchTag(store.revoke(key, id, now), "NotFound", () => Effect.void)
  })),
  "omits revoked keys from lists": faulty(ServiceKeyStore, (store) => ({
    list: (key, page) =>
      Effect.map(store.list(key, page), ({ items, total }) => ({
        items: items.filter((one) => one.revoked_at === null),
        total
      }))
  })),
  "lists the oldest first": faulty(ServiceKeyStore, (store) => ({
    list: (key, page) => Effect.map(store.list(key, page), ({ items, total }) => ({ items: items.toReversed(), total }))
  })),
  "revokes expired keys with revokeAll": faulty(ServiceKeyStore, (store) => ({
    revokeAll: (key) => store.revokeAll(key, at(0))
  })),
  "returns no ids from revokeAll": faulty(ServiceKeyStore, (store) => ({
    revokeAll: (key, now) => Effect.as(store.revokeAll(key, now), [])
  }))
})

detects("the contract of API keys, with what they hand out,", apiKeyStoreChecks, {
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
