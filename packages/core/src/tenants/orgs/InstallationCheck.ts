/**
 * Check of the data at start. An empty database next to existing blobs is mostly a mistake: a wrong address, or a lost file.
 * As a new installation, Weft would accept requests without the records of these blobs.
 */
import { Effect, Layer, Schema } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { BlobStore } from "../../platform/blobs/BlobStore.ts"
import { TenantStore } from "./TenantStore.ts"

/** The database is empty, but the blob store is not. Reported to the operator at start. */
export class DatabaseEmpty extends Schema.TaggedError<DatabaseEmpty>()("DatabaseEmpty", {}) {
  override get message(): string {
    return "The database is empty, but the blob store has blobs of an installation. Use the database of these blobs, or restore its backup. To begin a new installation, empty the blob store, or set `newInstallation: true`, which keeps them unused"
  }
}

/** Fails for an empty database next to existing blobs, unless a new installation is intended. */
export const installationCheckLayer = (
  isIntended = false
): Layer.Layer<never, DatabaseEmpty | StoreUnavailable, TenantStore | BlobStore> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { isEmpty } = yield* BlobStore
      if (isIntended || isEmpty === undefined) return
      const { total } = yield* (yield* TenantStore).listOrgs({ limit: 1, offset: 0 })
      if (total === 0 && !(yield* isEmpty)) return yield* new DatabaseEmpty()
    })
  )
