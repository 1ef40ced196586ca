/** Storing and removing the record of a file, in the transaction of the caller. */
import {
  type EnvId,
  type File,
  type FileId,
  NotFound,
  refusalOf,
  type Stored,
  type StoreTerms,
  succeeding,
  type Timestamp
} from "@weft/core"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { LooseNotes } from "./LooseBytesSql.ts"
import type { OrgStorage } from "./OrgStorage.ts"

export interface FileWrites {
  /** `used` is what the organization's storage was held at, `parts` what of it the file is made of. */
  readonly store: (
    file: File,
    terms: StoreTerms,
    used: number,
    parts: number
  ) => Effect.Effect<Stored, SqlError.SqlError>
  readonly remove: (
    envId: EnvId,
    id: FileId,
    looseUntil: Timestamp
  ) => Effect.Effect<void, SqlError.SqlError | NotFound>
}

export const fileWrites = (sql: SqlClient.SqlClient, storage: OrgStorage, notes: LooseNotes): FileWrites => {
  const upsert = (file: File) => {
    const { file_id: _, env_id, path, created_by_run_id: _run, created_at: _at, ...rest } = file
    return sql`INSERT INTO files ${sql.insert({ ...file })}
      ON CONFLICT (env_id, path) DO UPDATE SET ${sql.update(rest)}`
  }

  return {
    store: Effect.fnUntraced(function* (file, terms, used, parts) {
      const { env_id, path, storage_path } = file
      const [old = null] = yield* sql<File>`SELECT * FROM files WHERE env_id = ${env_id} AND path = ${path}`
      const refusal = refusalOf(file, terms, { isLoose: yield* notes.isLoose(storage_path), old, used, parts })
      if (refusal !== null) return refusal
      const stored = succeeding(file, old)
      yield* upsert(stored)
      yield* notes.drop([storage_path])
      if (old !== null) yield* notes.loosen(old.storage_path, terms.looseUntil)
      yield* storage.add(terms.org_id, file.size - parts - (old?.size ?? 0))
      return { _tag: "Stored", file: stored }
    }),

    remove: Effect.fnUntraced(function* (envId, id, looseUntil) {
      const orgId = yield* storage.orgOf(envId)
      if (orgId === undefined) return yield* noSuchFile
      yield* storage.hold(orgId)
      const [removed] = yield* sql<File>`DELETE FROM files WHERE env_id = ${envId} AND file_id = ${id} RETURNING *`
      if (removed === undefined) return yield* noSuchFile
      yield* notes.loosen(removed.storage_path, looseUntil)
      yield* storage.add(orgId, -removed.size)
    })
  }
}

export const noSuchFile = new NotFound({ resource: "file" })
