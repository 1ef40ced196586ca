/** `ApiKeyStore` on SQL. */
import { NotFound } from "@weft/core"
import { ApiKey, ApiKeyStore } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import { Database, onlyRow, orUnavailable, type RowOf, readCount } from "./Database.ts"
import { decodePermissions } from "./PermissionColumn.ts"

export const layer: Layer.Layer<ApiKeyStore, never, Database> = Layer.effect(
  ApiKeyStore,
  Effect.gen(function* () {
    const { reader, writer } = yield* Database

    const remove = Effect.fnUntraced(function* (envId: string, id: string) {
      const removed = writer`DELETE FROM api_keys WHERE api_key_id = ${id} AND env_id = ${envId} RETURNING api_key_id`
      yield* onlyRow(removed, notFound)
      yield* writer`DELETE FROM sessions WHERE api_key_id = ${id}`
      yield* writer`DELETE FROM service_keys WHERE api_key_id = ${id}`
    })

    return ApiKeyStore.of({
      insert: (key) =>
        writer`INSERT INTO api_keys ${writer.insert({ ...key, ...encoded(key) })} ON CONFLICT DO NOTHING`.pipe(
          Effect.asVoid,
          orUnavailable("insert")
        ),

      find: (id) =>
        onlyRow(reader<Row>`SELECT * FROM api_keys WHERE api_key_id = ${id}`, notFound).pipe(
          Effect.map(toApiKey),
          orUnavailable("find")
        ),

      list: (envId, { limit, offset }) =>
        Effect.all({
          items: Effect.map(
            reader<Row>`SELECT * FROM api_keys WHERE env_id = ${envId}
              ORDER BY created_at DESC, api_key_id DESC LIMIT ${limit} OFFSET ${offset}`,
            (rows) => rows.map(toApiKey)
          ),
          total: readCount(reader<{ n: number }>`SELECT count(*) AS n FROM api_keys WHERE env_id = ${envId}`)
        }).pipe(orUnavailable("list")),

      update: (key) =>
        onlyRow(
          writer`UPDATE api_keys SET ${writer.update({ name: key.name, updated_at: key.updated_at, ...encoded(key) })}
            WHERE api_key_id = ${key.api_key_id} AND env_id = ${key.env_id} RETURNING api_key_id`,
          notFound
        ).pipe(Effect.asVoid, orUnavailable("update")),

      remove: (envId, id) => writer.withTransaction(remove(envId, id)).pipe(orUnavailable("remove"))
    })
  })
)

type Row = Omit<RowOf<ApiKey, "enabled">, "permissions"> & { readonly permissions: string }

const notFound = new NotFound({ resource: "API key" })

const encoded = (key: ApiKey) => ({ enabled: key.enabled ? 1 : 0, permissions: JSON.stringify(key.permissions) })

const toApiKey = (row: Row): ApiKey =>
  new ApiKey(
    { ...row, enabled: row.enabled === 1, permissions: decodePermissions(row.permissions) },
    { disableChecks: true }
  )
