/** Uploads in parts (specification, "Multipart upload"). */
import { Schema } from "effect"
import { EnvId, RunId, UploadId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"

/** Bytes of a part that is not the last: at least; of any: at most. */
export const partBytesMin = 5 * 1024 ** 2
export const partBytesMax = 256 * 1024 ** 2
export const partsMax = 10_000

export const MultipartUpload = Schema.Struct({
  upload_id: UploadId,
  env_id: EnvId,
  path: Schema.String,
  content_type: Schema.String,
  /** What the client announced, in bytes; null for nothing. */
  expected_size: Schema.NullOr(Schema.Int),
  /** Recommended for each part, in bytes. */
  part_size: Schema.Int,
  parts_expected: Schema.Int,
  /** The key that the file will have. */
  storage_path: Schema.String,
  /** What the blob store calls the parts. */
  storage_parts: Schema.String,
  run_id: Schema.NullOr(RunId),
  expires_at: Timestamp,
  created_at: Timestamp
})
export type MultipartUpload = typeof MultipartUpload.Type

export const UploadedPart = Schema.Struct({
  /** From 1. */
  part_number: Schema.Int,
  /** Bytes. */
  size: Schema.Int,
  /** Quoted. */
  etag: Schema.String
})
export type UploadedPart = typeof UploadedPart.Type
