/** Blobs as rows of a SQLite file. A blob lies in memory as a whole while it is written or read: for small ones. */
import { createHash, randomUUID } from "node:crypto"
import { DatabaseSync, type SQLOutputValue } from "node:sqlite"
import { BlobStore, NotFound, StoreUnavailable, type Written } from "@weft/core"
import { Bytes, Effect, Layer, Stream } from "effect"

export const tableBlobs = ({ file }: { readonly file: string }): Layer.Layer<BlobStore, StoreUnavailable> =>
  Layer.effect(BlobStore, Effect.map(open(file), storeIn))

/** Closed with the layer. */
const open = (file: string) =>
  Effect.acquireRelease(
    attempt("open", () => {
      const database = new DatabaseSync(file)
      database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
        CREATE TABLE IF NOT EXISTS blobs (key TEXT PRIMARY KEY, bytes BLOB, upload TEXT);
        CREATE TABLE IF NOT EXISTS uploads (name TEXT PRIMARY KEY);
        CREATE TABLE IF NOT EXISTS parts (name TEXT, number INTEGER, digest TEXT, bytes BLOB, PRIMARY KEY (name, number))`)
      return database
    }),
    (database) => Effect.sync(() => database.close())
  )

const storeIn = (database: DatabaseSync): BlobStore["Service"] => {
  const blob = database.prepare("SELECT bytes, upload FROM blobs WHERE key = ?")
  const upload = database.prepare("SELECT name FROM uploads WHERE name = ?")
  const part = database.prepare("SELECT bytes FROM parts WHERE name = ? AND number = ? AND digest = ?")
  const putBlob = database.prepare("INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)")
  const putPart = database.prepare("INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?)")

  const get = (operation: string, key: string) =>
    orNotFound(attempt(operation, () => blob.get(key)).pipe(Effect.map((row) => row && bytesOf(row))))
  const put = (operation: string, key: string, bytes: Uint8Array) =>
    attempt(operation, () => void putBlob.run(key, bytes, null))
  const drop = (name: string) => {
    database.prepare("DELETE FROM uploads WHERE name = ?").run(name)
    database.prepare("DELETE FROM parts WHERE name = ?").run(name)
  }
  /** All of it or nothing, also when the process dies in between. */
  const atomic = <A>(operation: string, run: () => A) =>
    attempt(operation, () => {
      database.exec("BEGIN IMMEDIATE")
      try {
        const done = run()
        database.exec("COMMIT")
        return done
      } catch (error) {
        database.exec("ROLLBACK")
        throw error
      }
    })

  return BlobStore.of({
    backend: "table",
    put: (key, bytes) => put("put", key, bytes),
    get: (key) => get("get", key),
    remove: (key) => attempt("remove", () => void database.prepare("DELETE FROM blobs WHERE key = ?").run(key)),
    write: (key, stream) =>
      Effect.flatMap(collected(stream), (bytes) => Effect.as(put("write", key, bytes), written(bytes))),
    read: (key, range) =>
      Effect.map(get("read", key), (bytes) => Stream.make(bytes.subarray(range?.start, range?.end))),
    address: () => Effect.succeed(null),

    beginParts: () =>
      attempt("beginParts", () => {
        const name = randomUUID()
        database.prepare("INSERT INTO uploads VALUES (?)").run(name)
        return name
      }),
    writePart: (_key, name, number, stream) =>
      Effect.flatMap(collected(stream), (bytes) => {
        const part = written(bytes)
        const store = atomic("writePart", () => {
          if (upload.get(name) === undefined) return undefined
          putPart.run(name, number, part.digest, bytes)
          return part
        })
        return orNotFound(store)
      }),
    joinParts: (key, name, chosen) =>
      orNotFound(
        atomic("joinParts", () => {
          const there = blob.get(key)
          if (there?.upload === name) return written(bytesOf(there))
          const rows = chosen
            .map(({ number, digest }) => part.get(name, number, digest))
            .filter((row) => row !== undefined)
          if (upload.get(name) === undefined || rows.length < chosen.length) return undefined
          const bytes = Bytes.concat(rows.map(bytesOf))
          putBlob.run(key, bytes, name)
          drop(name)
          return written(bytes)
        })
      ),
    dropParts: (_key, name) => atomic("dropParts", () => drop(name))
  })
}

const attempt = <A>(operation: string, run: () => A): Effect.Effect<A, StoreUnavailable> =>
  Effect.try({ try: run, catch: (cause) => new StoreUnavailable({ operation, cause }) })

const orNotFound = <A, E>(found: Effect.Effect<A | undefined, E>): Effect.Effect<A, E | NotFound> =>
  Effect.flatMap(found, (value) =>
    value === undefined ? Effect.fail(new NotFound({ resource: "blob" })) : Effect.succeed(value)
  )

const bytesOf = ({ bytes }: Record<string, SQLOutputValue>): Uint8Array =>
  bytes instanceof Uint8Array ? bytes : new Uint8Array()

const written = (bytes: Uint8Array): Written => ({
  size: bytes.length,
  digest: createHash("sha256").update(bytes).digest("hex")
})

const collected = <E>(stream: Stream.Stream<Uint8Array, E>): Effect.Effect<Uint8Array, E> =>
  Effect.map(Stream.runCollect(stream), (pieces) => Bytes.concat(pieces))
