/** `FileStore` on SQL. */
import type { EnvId } from "@weft/core"
import { type File, type FileFilter, FileStore } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { Database, onlyRow, orUnavailable, readCount } from "./Database.ts"
import { fileWrites, noSuchFile } from "./FileWrites.ts"
import { orgStorage } from "./OrgStorage.ts"
import { endOfPrefix } from "./PrefixRange.ts"
import { makeReservations } from "./UncommittedBlobsSql.ts"
import { uploadStore } from "./UploadStoreSql.ts"

export const layer: Layer.Layer<FileStore, never, Database> = Layer.effect(
  FileStore,
  Effect.gen(function* () {
    const database = yield* Database
    const { dialect, reader, writer } = database
    const storage = orgStorage(writer)
    const reservations = makeReservations(database)
    const writes = fileWrites(writer, storage, reservations)

    /** Matches each folder as a range of paths in the index. There may be a thousand folders. */
    const among = (envId: EnvId, names: ReadonlyArray<string>) =>
      reader`path IN (
        SELECT value FROM (${dialect.texts(reader, names)}) AS named
        UNION ALL
        SELECT inside.path FROM (${dialect.texts(reader, outermost(names))}) AS folders
        JOIN files AS inside ON inside.env_id = ${envId} AND inside.path >= folders.value
          AND inside.path < substr(folders.value, 1, length(folders.value) - 1) || '0'
      )`

    const isListed = (envId: EnvId, { prefix = "", only }: FileFilter): ReadonlyArray<Statement.Fragment> => {
      const end = endOfPrefix(prefix)
      return [
        ...(prefix === "" ? [] : [reader`path >= ${prefix}`]),
        ...(end === null ? [] : [reader`path < ${end}`]),
        ...(only === undefined ? [] : [among(envId, only)])
      ]
    }

    return FileStore.of({
      ...reservations.methods,
      ...uploadStore(database, storage, writes),

      get: (envId, id) =>
        onlyRow(reader<File>`SELECT * FROM files WHERE env_id = ${envId} AND file_id = ${id}`, noSuchFile).pipe(
          orUnavailable("get")
        ),

      find: (envId, path) =>
        onlyRow(reader<File>`SELECT * FROM files WHERE env_id = ${envId} AND path = ${path}`, noSuchFile).pipe(
          orUnavailable("find")
        ),

      list: (envId, { limit, offset }, filter) => {
        const where = reader.and([reader`env_id = ${envId}`, ...isListed(envId, filter)])
        return Effect.all({
          items: reader<File>`SELECT * FROM files WHERE ${where} ORDER BY path LIMIT ${limit} OFFSET ${offset}`,
          total: readCount(reader<{ n: number }>`SELECT count(*) AS n FROM files WHERE ${where}`)
        }).pipe(orUnavailable("list"))
      },

      storageBytes: (orgId) =>
        readCount(reader<{ n: number }>`SELECT bytes AS n FROM org_storage WHERE org_id = ${orgId}`).pipe(
          orUnavailable("storageBytes")
        ),

      store: (file, terms) =>
        writer
          .withTransaction(Effect.flatMap(storage.lock(terms.org_id), (used) => writes.store(file, terms, used, 0)))
          .pipe(orUnavailable("store")),

      remove: (envId, id, reclaimAt) =>
        writer.withTransaction(writes.remove(envId, id, reclaimAt)).pipe(orUnavailable("remove"))
    })
  })
)

/** Returns the folders among the names with their trailing slash, without nested ones. `0` is the character after `/`. */
const outermost = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const folders = names.filter((name) => name.endsWith("/*")).map((name) => name.slice(0, -1))
  const outer: Array<string> = []
  for (const folder of folders.sort()) {
    const last = outer.at(-1)
    if (last === undefined || !folder.startsWith(last)) outer.push(folder)
  }
  return outer
}
