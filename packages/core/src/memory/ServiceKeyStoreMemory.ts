/** `ServiceKeyStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound } from "../foundation/Errors.ts"
import type { ApiKeyId, ServiceKeyId } from "../foundation/Ids.ts"
import { isActive, ServiceKey } from "../tenants/access/ServiceKey.ts"
import { ServiceKeyStore } from "../tenants/access/ServiceKeyStore.ts"
import { compareText, MemoryDatabase, toPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<ServiceKeyStore, never, MemoryDatabase> = Layer.effect(
  ServiceKeyStore,
  Effect.gen(function* () {
    const { serviceKeys } = yield* MemoryDatabase

    const find = (id: ServiceKeyId) => {
      const key = serviceKeys.get(id)
      return key === undefined ? Effect.fail(notFound) : Effect.succeed(key)
    }

    const get = (apiKeyId: ApiKeyId, id: ServiceKeyId) =>
      Effect.filterOrFail(
        find(id),
        (key) => key.api_key_id === apiKeyId,
        () => notFound
      )

    const findKeys = (apiKeyId: ApiKeyId) => [...serviceKeys.values()].filter((key) => key.api_key_id === apiKeyId)

    return ServiceKeyStore.of({
      insert: (key) => Effect.sync(() => void serviceKeys.set(key.service_key_id, key)),
      find: (id) => Effect.suspend(() => find(id)),
      list: (apiKeyId, page) => Effect.sync(() => toPage(findKeys(apiKeyId).sort(newestFirst), page)),
      get: (apiKeyId, id) => Effect.suspend(() => get(apiKeyId, id)),

      revoke: Effect.fnUntraced(function* (apiKeyId, id, at) {
        const key = yield* get(apiKeyId, id)
        if (key.revoked_at !== null) return yield* notFound
        serviceKeys.set(id, new ServiceKey({ ...key, revoked_at: at }))
      }),

      revokeAll: (apiKeyId, at) =>
        Effect.sync(() => {
          const active = findKeys(apiKeyId).filter((key) => isActive(key, at))
          for (const key of active) serviceKeys.set(key.service_key_id, new ServiceKey({ ...key, revoked_at: at }))
          return active.map((key) => key.service_key_id)
        })
    })
  })
)

const notFound = new NotFound({ resource: "service key" })

const newestFirst = (a: ServiceKey, b: ServiceKey): number => compareText(b.service_key_id, a.service_key_id)
