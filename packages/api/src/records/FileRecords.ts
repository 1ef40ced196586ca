/** Files and uploads on the wire (specification, "File", "Multipart upload"). */
import { File, MultipartUpload, UploadedPart } from "@weft/core"
import { Schema, Struct } from "effect"
import { Instant } from "./Wire.ts"

const stored = Struct.pick(File.fields, ["file_id", "path", "size", "etag", "content_type", "storage_backend"])
const instants = { created_at: Instant, updated_at: Instant }

export const FileRecord = Schema.Struct({
  ...stored,
  ...Struct.pick(File.fields, ["created_by_run_id", "updated_by_run_id"]),
  ...instants
}).annotate({ identifier: "File" })

/** What an upload answers. */
export const UploadedFileRecord = Schema.Struct({ ...stored, ...instants }).annotate({ identifier: "UploadedFile" })

export const FileLinkRecord = Schema.Struct({
  url: Schema.String.annotate({ description: "Downloads the file without a credential, for as long as it is good" })
}).annotate({ identifier: "FileLink" })

export const MultipartUploadRecord = Schema.Struct({
  ...Struct.pick(MultipartUpload.fields, ["upload_id", "path", "part_size", "parts_expected"]),
  expires_at: Instant
}).annotate({ identifier: "MultipartUpload" })

export const UploadedPartRecord = UploadedPart.annotate({ identifier: "UploadedPart" })
