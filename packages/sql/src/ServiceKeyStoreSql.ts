/** `ServiceKeyStore` on SQL. */
import { NotFound } from "@weft/core"
import { ServiceKey, ServiceKeyStore } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import { Database, onlyRow, orUnavailable, type RowOf, readCount } from "./Database.ts"
import { decodePermissions } from "./PermissionColumn.ts"

export const layer: Layer.Layer<ServiceKeyStore, never, Database> = Layer.effect(
  ServiceKeyStore,
  Effect.gen(function* () {
    const { reader, writer } = yield* Database

    return ServiceKeyStore.of({
      insert: (key) =>
        writer`INSERT INTO service_keys ${writer.insert(encoded(key))}`.pipe(Effect.asVoid, orUnavailable("insert")),

      find: (id) =>
        onlyRow(reader<Row>`SELECT * FROM service_keys WHERE service_key_id = ${id}`, notFound).pipe(
          Effect.map(toServiceKey),
          orUnavailable("find")
        ),

      list: (apiKeyId, { limit, offset }) =>
        Effect.all({
          items: Effect.map(
            reader<Row>`SELECT * FROM service_keys WHERE api_key_id = ${apiKeyId}
              ORDER BY service_key_id DESC LIMIT ${limit} OFFSET ${offset}`,
            (rows) => rows.map(toServiceKey)
          ),
          total: readCount(reader<{ n: number }>`SELECT count(*) AS n FROM service_keys WHERE api_key_id = ${apiKeyId}`)
        }).pipe(orUnavailable("list")),

      get: (apiKeyId, id) =>
        onlyRow(
          reader<Row>`SELECT * FROM service_keys WHERE service_key_id = ${id} AND api_key_id = ${apiKeyId}`,
          notFound
        ).pipe(Effect.map(toServiceKey), orUnavailable("get")),

      revoke: (apiKeyId, id, at) =>
        onlyRow(
          writer`UPDATE service_keys SET revoked_at = ${at}
            WHERE service_key_id = ${id} AND api_key_id = ${apiKeyId} AND revoked_at IS NULL RETURNING service_key_id`,
          notFound
        ).pipe(Effect.asVoid, orUnavailable("revoke")),

      revokeAll: (apiKeyId, at) =>
        Effect.map(
          writer<Pick<Row, "service_key_id">>`UPDATE service_keys SET revoked_at = ${at}
            WHERE api_key_id = ${apiKeyId} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${at})
            RETURNING service_key_id`,
          (rows) => rows.map((row) => row.service_key_id)
        ).pipe(orUnavailable("revokeAll"))
    })
  })
)

type Row = Omit<RowOf<ServiceKey>, "permissions"> & { readonly permissions: string }

const notFound = new NotFound({ resource: "service key" })

const encoded = (key: ServiceKey) => ({ ...key, permissions: JSON.stringify(key.permissions) })

const toServiceKey = (row: Row): ServiceKey =>
  new ServiceKey({ ...row, permissions: decodePermissions(row.permissions) }, { disableChecks: true })
