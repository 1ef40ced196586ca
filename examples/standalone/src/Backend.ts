/** The adapters that the settings name. Those that few servers need are loaded when they are. */
import { join } from "node:path"
import { MemoryStores } from "@weft/core"
import * as Filesystem from "@weft/filesystem"
import * as Sqlite from "@weft/sqlite"
import { Redacted } from "effect"
import type { Settings } from "./Settings.ts"

/** For `start` of `@weft/core`. */
export const backendOf = async (settings: Settings) => ({
  stores: await storesOf(settings),
  blobs: await blobsOf(settings),
  feed: await feedOf(settings)
})

const storesOf = async ({ database, dataDir }: Settings) => {
  if (database.kind === "sqlite") return Sqlite.stores({ file: database.file ?? join(dataDir, "weft.db") })
  const { url, connections, timeoutMs } = database
  const Postgres = await import("@weft/postgres")
  return Postgres.stores({
    url,
    ...(connections === null ? {} : { connections }),
    ...(timeoutMs === null ? {} : { statementTimeoutMs: timeoutMs })
  })
}

const feedOf = async ({ database, pubSub }: Settings) => {
  if (pubSub.kind === "nats") {
    const Nats = await import("@weft/nats")
    const servers = Redacted.value(pubSub.servers)
    return Nats.feed({ servers, ...(pubSub.prefix === null ? {} : { prefix: pubSub.prefix }) })
  }
  if (database.kind !== "postgres" || pubSub.kind !== "postgres") return MemoryStores.feed
  const Postgres = await import("@weft/postgres")
  return Postgres.feed({ url: database.url })
}

const blobsOf = async ({ storage, dataDir }: Settings) => {
  if (storage.kind === "file") return Filesystem.blobs({ dir: storage.dir ?? join(dataDir, "blobs") })
  const S3 = await import("@weft/s3")
  return S3.blobs(storage.options)
}

/** What somebody who starts more than one node should know, a line each. */
export const warningsOf = ({ database, storage, pubSub, masterKey, adminToken }: Settings): ReadonlyArray<string> => {
  if (database.kind === "sqlite") return []
  return [
    ...(storage.kind === "file"
      ? ["WEFT_STORAGE_URL: files are in a folder of this machine; nodes on others do not have them"]
      : []),
    ...(pubSub.kind === "memory" || pubSub.kind === "none"
      ? ["WEFT_PUBSUB: nodes tell each other nothing; what changes on another node may take a minute to be seen here"]
      : []),
    ...(masterKey === null
      ? ["WEFT_MASTER_KEY: is the one in the data dir; other nodes need the same, or cannot read what this one seals"]
      : []),
    ...(adminToken === null ? ["WEFT_ADMIN_TOKEN: is the one in the data dir; other nodes have others"] : [])
  ]
}
