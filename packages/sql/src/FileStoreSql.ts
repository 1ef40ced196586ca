/** `FileStore` on SQL. */
import { type File, type FileFilter, FileStore } from "@weft/core"
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

    const among = (names: ReadonlyArray<string>) => {
      const folders = names.filter((name) => name.endsWith("/*")).map((name) => name.slice(0, -1))
      return reader`(path IN (${dialect.texts(reader, names)}) OR EXISTS (
        SELECT 1 FROM (${dialect.texts(reader, folders)}) AS folders
        WHERE substr(files.path, 1, length(folders.value)) = folders.value
      ))`
    }

    const isListed = ({ prefix = "", only }: FileFilter): ReadonlyArray<Statement.Fragment> => {
      const end = endOfPrefix(prefix)
      return [
        ...(prefix === "" ? [] : [reader`path >= ${prefix}`]),
        ...(end === null ? [] : [reader`path < ${end}`]),
        ...(only === undefined ? [] : [among(only)])
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
        const where = reader.and([reader`env_id = ${envId}`, ...isListed(filter)])
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
