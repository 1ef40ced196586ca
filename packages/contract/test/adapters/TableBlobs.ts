/** Blobs as rows of a SQLite file. A blob is in memory while it is written or read, so blobs must be small. */
import { createHash, randomUUID } from "node:crypto"
import { DatabaseSync, type SQLOutputValue } from "node:sqlite"
import { NotFound, StoreUnavailable } from "@weft/core"
import { BlobStore, type WrittenBlob } from "@weft/core/adapter"
import { Bytes, Effect, Layer, Stream } from "effect"

export const tableBlobs = ({ file }: { readonly file: string }): Layer.Layer<BlobStore, StoreUnavailable> =>
  Layer.effect(BlobStore, Effect.map(open(file), makeStore))

/** Opens the database. The layer closes it. */
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

const makeStore = (database: DatabaseSync): BlobStore["Service"] => {
  const blob = database.prepare("SELECT bytes, upload FROM blobs WHERE key = ?")
  const upload = database.prepare("SELECT name FROM uploads WHERE name = ?")
  const part = database.prepare("SELECT bytes FROM parts WHERE name = ? AND number = ? AND digest = ?")
  const putBlob = database.prepare("INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)")
  const putPart = database.prepare("INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?)")

  const get = (operation: string, key: string) =>
    orNotFound(attempt(operation, () => blob.get(key)).pipe(Effect.map((row) => row && toBytes(row))))
  const put = (operation: string, key: string, bytes: Uint8Array) =>
    attempt(operation, () => void putBlob.run(key, bytes, null))
  const drop = (name: string) => {
    database.prepare("DELETE FROM uploads WHERE name = ?").run(name)
    database.prepare("DELETE FROM parts WHERE name = ?").run(name)
  }
  /** Runs statements in one transaction, which is rolled back on a failure or a crash. */
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
    newHash: () => {
      const hash = createHash("sha256")
      return { update: (bytes) => void hash.update(bytes), digest: Effect.sync(() => hash.digest("hex")) }
    },
    put: (key, bytes) => put("put", key, bytes),
    get: (key) => get("get", key),
    remove: (key) => attempt("remove", () => void database.prepare("DELETE FROM blobs WHERE key = ?").run(key)),
    write: (key, stream) =>
      Effect.flatMap(collect(stream), (bytes) => Effect.as(put("write", key, bytes), toWritten(bytes))),
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
      Effect.flatMap(collect(stream), (bytes) => {
        const part = toWritten(bytes)
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
          const joined = blob.get(key)
          if (joined?.upload === name) return toWritten(toBytes(joined))
          const rows = chosen
            .map(({ number, digest }) => part.get(name, number, digest))
            .filter((row) => row !== undefined)
          if (upload.get(name) === undefined || rows.length < chosen.length) return undefined
          const bytes = Bytes.concat(rows.map(toBytes))
          putBlob.run(key, bytes, name)
          drop(name)
          return toWritten(bytes)
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

const toBytes = ({ bytes }: Record<string, SQLOutputValue>): Uint8Array =>
  bytes instanceof Uint8Array ? bytes : new Uint8Array()

const toWritten = (bytes: Uint8Array): WrittenBlob => ({
  size: bytes.length,
  digest: createHash("sha256").update(bytes).digest("hex")
})

const collect = <E>(stream: Stream.Stream<Uint8Array, E>): Effect.Effect<Uint8Array, E> =>
  Effect.map(Stream.runCollect(stream), (chunks) => Bytes.concat(chunks))
