/** Creates the adapters that the settings select. Loads the less common ones only on demand. */
import { join } from "node:path"
import { localCluster } from "@weft/core"
import * as Filesystem from "@weft/filesystem"
import * as Sqlite from "@weft/sqlite"
import { Redacted } from "effect"
import type { Settings } from "./Settings.ts"

/** Returns the adapters as options for `start` of `@weft/core`. */
export const openBackend = async (settings: Settings) => ({
  database: await openDatabase(settings),
  blobs: await openBlobs(settings),
  cluster: await openCluster(settings)
})

const openDatabase = async ({ database, dataDir }: Settings) => {
  if (database.kind === "sqlite") return Sqlite.database({ file: database.file ?? join(dataDir, "weft.db") })
  const { url, connections, timeoutMs } = database
  const Postgres = await import("@weft/postgres")
  return Postgres.database({
    url,
    ...(connections === null ? {} : { connections }),
    ...(timeoutMs === null ? {} : { statementTimeoutMs: timeoutMs })
  })
}

const openCluster = async ({ database, pubSub }: Settings) => {
  if (pubSub.kind === "nats") {
    const Nats = await import("@weft/nats")
    const servers = Redacted.value(pubSub.servers)
    return Nats.cluster({ servers, ...(pubSub.prefix === null ? {} : { prefix: pubSub.prefix }) })
  }
  if (database.kind !== "postgres" || pubSub.kind !== "postgres") return localCluster
  const Postgres = await import("@weft/postgres")
  return Postgres.cluster({ url: database.url })
}

const openBlobs = async ({ storage, dataDir }: Settings) => {
  if (storage.kind === "file") return Filesystem.blobs({ dir: storage.dir ?? join(dataDir, "blobs") })
  const S3 = await import("@weft/s3")
  return S3.blobs(storage.options)
}

/** Returns one line per setting that may be wrong for several nodes. */
export const findWarnings = ({ database, storage, pubSub, masterKey, adminToken }: Settings): ReadonlyArray<string> => {
  if (database.kind === "sqlite") return []
  return [
    ...(storage.kind === "file"
      ? ["WEFT_STORAGE_URL: files are in a folder of this machine, so nodes on other machines cannot read them"]
      : []),
    ...(pubSub.kind === "memory" || pubSub.kind === "none"
      ? ["WEFT_PUBSUB: nodes exchange no messages, so changes on another node may take 1 minute to take effect here"]
      : []),
    ...(masterKey === null
      ? ["WEFT_MASTER_KEY: using the key in the data dir; other nodes need the same key to decrypt secrets of this one"]
      : []),
    ...(adminToken === null
      ? ["WEFT_ADMIN_TOKEN: using the token in the data dir; other nodes have different tokens"]
      : [])
  ]
}
