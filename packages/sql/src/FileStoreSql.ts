/** `FileStore` on SQL. */
import { type EnvId, type File, type FileFilter, FileStore } from "@weft/core"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { countOf, Database, onlyRow, orUnavailable } from "./Database.ts"
import { fileWrites, noSuchFile } from "./FileWrites.ts"
import { looseNotes } from "./LooseBytesSql.ts"
import { orgStorage } from "./OrgStorage.ts"
import { endOfPrefix } from "./PrefixRange.ts"
import { uploadStore } from "./UploadStoreSql.ts"

export const layer: Layer.Layer<FileStore, never, Database> = Layer.effect(
  FileStore,
  Effect.gen(function* () {
    const database = yield* Database
    const { dialect, reader, writer } = database
    const storage = orgStorage(writer)
    const { isLoose: _, loosen: _l, drop: _d, ...notes } = looseNotes(database)
    const writes = fileWrites(writer, storage, looseNotes(database))

    /** Each folder is looked up as a range of paths, which the index knows: they may be a thousand. */
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
      ...notes,
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
          total: countOf(reader<{ n: number }>`SELECT count(*) AS n FROM files WHERE ${where}`)
        }).pipe(orUnavailable("list"))
      },

      storageBytes: (orgId) =>
        countOf(reader<{ n: number }>`SELECT bytes AS n FROM org_storage WHERE org_id = ${orgId}`).pipe(
          orUnavailable("storageBytes")
        ),

      store: (file, terms) =>
        writer
          .withTransaction(Effect.flatMap(storage.hold(terms.org_id), (used) => writes.store(file, terms, used, 0)))
          .pipe(orUnavailable("store")),

      remove: (envId, id, looseUntil) =>
        writer.withTransaction(writes.remove(envId, id, looseUntil)).pipe(orUnavailable("remove"))
    })
  })
)

/** The folders among the names, with the slash that ends them, without those that lie in another one. `0` follows `/`. */
const outermost = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const folders = names.filter((name) => name.endsWith("/*")).map((name) => name.slice(0, -1))
  const kept: Array<string> = []
  for (const folder of folders.sort()) {
    const last = kept.at(-1)
    if (last === undefined || !folder.startsWith(last)) kept.push(folder)
  }
  return kept
}
