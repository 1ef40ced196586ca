/** Stores and removes file records, in the caller's transaction. */
import { type EnvId, NotFound } from "@weft/core"
import {
  checkStore,
  type File,
  type FileId,
  type Stored,
  type StoreTerms,
  type Timestamp,
  toReplacement
} from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { OrgStorage } from "./OrgStorage.ts"
import type { Reservations } from "./UncommittedBlobsSql.ts"

export interface FileWrites {
  /** `used` is the organization's locked storage sum in bytes, `parts` the bytes in it that become the file. */
  readonly store: (
    file: File,
    terms: StoreTerms,
    used: number,
    parts: number
  ) => Effect.Effect<Stored, SqlError.SqlError>
  readonly remove: (envId: EnvId, id: FileId, reclaimAt: Timestamp) => Effect.Effect<void, SqlError.SqlError | NotFound>
}

export const fileWrites = (sql: SqlClient.SqlClient, storage: OrgStorage, reservations: Reservations): FileWrites => {
  const upsert = (file: File) => {
    const { file_id: _, env_id, path, created_by_run_id: _run, created_at: _at, ...rest } = file
    return sql`INSERT INTO files ${sql.insert({ ...file })}
      ON CONFLICT (env_id, path) DO UPDATE SET ${sql.update(rest)}`
  }

  return {
    store: Effect.fnUntraced(function* (file, terms, used, parts) {
      const { env_id, path, storage_path } = file
      const [old = null] = yield* sql<File>`SELECT * FROM files WHERE env_id = ${env_id} AND path = ${path}`
      const refusal = checkStore(file, terms, {
        isReserved: yield* reservations.isReserved(storage_path),
        old,
        used,
        parts
      })
      if (refusal !== null) return refusal
      const stored = toReplacement(file, old)
      yield* upsert(stored)
      yield* reservations.release([storage_path])
      if (old !== null) yield* reservations.reserve(old.storage_path, terms.reclaimAt)
      yield* storage.add(terms.org_id, file.size - parts - (old?.size ?? 0))
      return { _tag: "Stored", file: stored }
    }),

    remove: Effect.fnUntraced(function* (envId, id, reclaimAt) {
      const orgId = yield* storage.findOrg(envId)
      if (orgId === undefined) return yield* noSuchFile
      yield* storage.lock(orgId)
      const [removed] = yield* sql<File>`DELETE FROM files WHERE env_id = ${envId} AND file_id = ${id} RETURNING *`
      if (removed === undefined) return yield* noSuchFile
      yield* reservations.reserve(removed.storage_path, reclaimAt)
      yield* storage.add(orgId, -removed.size)
    })
  }
}

export const noSuchFile = new NotFound({ resource: "file" })
