/** Files of an environment (specification, "File"). */
import { Schema } from "effect"
import { EnvId, FileId, RunId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"

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
  /** The key of its bytes. Every content has a key of its own, so that a reader is never shown a mixture. */
  storage_path: Schema.String,
  created_by_run_id: Schema.NullOr(RunId),
  updated_by_run_id: Schema.NullOr(RunId),
  created_at: Timestamp,
  updated_at: Timestamp
})
export type File = typeof File.Type
