/** Files of an environment (specification, "File"). */
import { Schema } from "effect"
import { EnvId, FileId, RunId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"

export const File = Schema.Struct({
  file_id: FileId,
  env_id: EnvId,
  /** Unique in the environment. */
  path: Schema.String,
  /** Bytes. */
  size: Schema.Int,
  /** A quoted strong entity tag (RFC 9110). */
  etag: Schema.String,
  content_type: Schema.String,
  storage_backend: Schema.String,
  /** Key of the bytes in the blob store. Each version has a different key, so that a reader never gets a mixture. */
  storage_path: Schema.String,
  /** Checksum of the bytes (`Checksum.ts`); null for a file that an older release stored. */
  checksum: Schema.NullOr(Schema.String),
  created_by_run_id: Schema.NullOr(RunId),
  updated_by_run_id: Schema.NullOr(RunId),
  created_at: Timestamp,
  updated_at: Timestamp
})
export type File = typeof File.Type
