/** Multipart uploads (specification, "Multipart upload"). */
import { Schema } from "effect"
import { EnvId, RunId, UploadId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"

/** Minimum bytes of every part except the last, and maximum bytes of any part. */
export const partBytesMin = 5 * 1024 ** 2
export const partBytesMax = 256 * 1024 ** 2
export const partsMax = 10_000

export const MultipartUpload = Schema.Struct({
  upload_id: UploadId,
  env_id: EnvId,
  path: Schema.String,
  content_type: Schema.String,
  /** Size that the client declared, in bytes, or null. */
  expected_size: Schema.NullOr(Schema.Int),
  /** Recommended size of each part, in bytes. */
  part_size: Schema.Int,
  parts_expected: Schema.Int,
  /** Key of the file's bytes after completion. */
  storage_path: Schema.String,
  /** Identifier of the parts in the blob store. */
  storage_parts: Schema.String,
  run_id: Schema.NullOr(RunId),
  expires_at: Timestamp,
  created_at: Timestamp
})
export type MultipartUpload = typeof MultipartUpload.Type

export const UploadedPart = Schema.Struct({
  /** Position of the part, from 1. */
  part_number: Schema.Int,
  /** Bytes. */
  size: Schema.Int,
  /** A quoted entity tag. */
  etag: Schema.String
})
export type UploadedPart = typeof UploadedPart.Type
