/** `ApiKeyStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound } from "../foundation/Errors.ts"
import type { ApiKeyId, EnvId } from "../foundation/Ids.ts"
import { ApiKey } from "../tenants/access/ApiKey.ts"
import { ApiKeyStore } from "../tenants/access/ApiKeyStore.ts"
import { compareText, MemoryDatabase, toPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<ApiKeyStore, never, MemoryDatabase> = Layer.effect(
  ApiKeyStore,
  Effect.gen(function* () {
    const { apiKeys, sessions, serviceKeys } = yield* MemoryDatabase

    const stored = (envId: EnvId, id: ApiKeyId) => {
      const key = apiKeys.get(id)
      return key === undefined || key.env_id !== envId ? Effect.fail(notFound) : Effect.succeed(key)
    }

    return ApiKeyStore.of({
      insert: (key) => Effect.sync(() => void (apiKeys.has(key.api_key_id) || apiKeys.set(key.api_key_id, key))),

      find: (id) =>
        Effect.suspend(() => {
          const key = apiKeys.get(id)
          return key === undefined ? Effect.fail(notFound) : Effect.succeed(key)
        }),

      list: (envId, page) =>
        Effect.sync(() => toPage([...apiKeys.values()].filter((key) => key.env_id === envId).sort(newestFirst), page)),

      update: Effect.fnUntraced(function* (key) {
        const old = yield* stored(key.env_id, key.api_key_id)
        const { name, enabled, permissions, updated_at } = key
        apiKeys.set(old.api_key_id, new ApiKey({ ...old, name, enabled, permissions, updated_at }))
      }),

      remove: Effect.fnUntraced(function* (envId, id) {
        const key = yield* stored(envId, id)
        apiKeys.delete(key.api_key_id)
        for (const session of sessions.values()) if (session.api_key_id === id) sessions.delete(session.session_id)
        for (const child of serviceKeys.values()) if (child.api_key_id === id) serviceKeys.delete(child.service_key_id)
      })
    })
  })
)

const notFound = new NotFound({ resource: "API key" })

/** Sorts by time first: an imported token may have an id of any UUID version. */
const newestFirst = (a: ApiKey, b: ApiKey): number =>
  b.created_at - a.created_at || compareText(b.api_key_id, a.api_key_id)
