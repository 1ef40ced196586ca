/** The adapters that the settings name. */
import { join } from "node:path"
import { MemoryStores } from "@weft/core"
import * as Filesystem from "@weft/filesystem"
import * as Nats from "@weft/nats"
import * as Postgres from "@weft/postgres"
import * as S3 from "@weft/s3"
import * as Sqlite from "@weft/sqlite"
import { Redacted } from "effect"
import type { Settings } from "./Settings.ts"

/** For `start` of `@weft/core`. */
export const backendOf = (settings: Settings) => ({
  stores: storesOf(settings),
  blobs: blobsOf(settings),
  feed: feedOf(settings)
})

const storesOf = ({ database, dataDir }: Settings) => {
  if (database.kind === "sqlite") return Sqlite.stores({ file: database.file ?? join(dataDir, "weft.db") })
  const { url, connections, timeoutMs } = database
  return Postgres.stores({
    url,
    ...(connections === null ? {} : { connections }),
    ...(timeoutMs === null ? {} : { statementTimeoutMs: timeoutMs })
  })
}

const feedOf = ({ database, pubSub }: Settings) => {
  if (pubSub.kind === "nats") {
    const servers = Redacted.value(pubSub.servers)
    return Nats.feed({ servers, ...(pubSub.prefix === null ? {} : { prefix: pubSub.prefix }) })
  }
  return database.kind === "postgres" && pubSub.kind === "postgres"
    ? Postgres.feed({ url: database.url })
    : MemoryStores.feed
}

const blobsOf = ({ storage, dataDir }: Settings) =>
  storage.kind === "s3" ? S3.blobs(storage.options) : Filesystem.blobs({ dir: storage.dir ?? join(dataDir, "blobs") })

/** What somebody who starts more than one node should know, a line each. */
export const warningsOf = ({ database, storage, pubSub, adminToken }: Settings): ReadonlyArray<string> => {
  if (database.kind === "sqlite") return []
  return [
    ...(storage.kind === "file"
      ? ["WEFT_STORAGE_URL: files are in a folder of this machine; nodes on others do not have them"]
      : []),
    ...(pubSub.kind === "memory" || pubSub.kind === "none"
      ? ["WEFT_PUBSUB: nodes tell each other nothing; what changes on another node may take a minute to be seen here"]
      : []),
    ...(adminToken === null ? ["WEFT_ADMIN_TOKEN: is not set, so there are no admin routes"] : [])
  ]
}
