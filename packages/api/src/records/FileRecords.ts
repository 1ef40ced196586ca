/** Wire format of files and uploads (specification, "File", "Multipart upload"). */
import { File, MultipartUpload, UploadedPart } from "@weft/core/adapter"
import { Schema } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { Instant, instant } from "./Wire.ts"

const etag = '"5d41402abc4b2a76b9719d911017c592"'

const stored = {
  file_id: File.fields.file_id,
  path: example(File.fields.path, "invoices/2026/1042.pdf"),
  size: example(File.fields.size, 48_213),
  etag: example(File.fields.etag, etag),
  content_type: example(File.fields.content_type, "application/pdf"),
  storage_backend: example(File.fields.storage_backend, "filesystem")
}
const instants = { created_at: Instant, updated_at: Instant }

export const FileRecord = Schema.Struct({
  ...stored,
  created_by_run_id: example(File.fields.created_by_run_id, null),
  updated_by_run_id: example(File.fields.updated_by_run_id, null),
  ...instants
}).annotate({ identifier: "File" })

/** Response to an upload. */
export const UploadedFileRecord = Schema.Struct({ ...stored, ...instants }).annotate({ identifier: "UploadedFile" })

export const FileLinkRecord = Schema.Struct({
  url: Schema.String.annotate({
    description: "Downloads the file without a credential, until the link expires",
    examples: ["https://weft.example.net/v1/files/01970d3c-…/content?env_id=01970d3a-…&expires=1769864400&signature=…"]
  })
}).annotate({ identifier: "FileLink" })

export const MultipartUploadRecord = Schema.Struct({
  upload_id: MultipartUpload.fields.upload_id,
  path: example(MultipartUpload.fields.path, "invoices/2026/1042.pdf"),
  part_size: example(MultipartUpload.fields.part_size, 8_388_608),
  parts_expected: example(MultipartUpload.fields.parts_expected, 2),
  expires_at: instant("2026-01-31T13:00:00.000Z")
}).annotate({ identifier: "MultipartUpload" })

export const UploadedPartRecord = Schema.Struct({
  part_number: UploadedPart.fields.part_number,
  size: example(UploadedPart.fields.size, 48_213),
  etag: example(UploadedPart.fields.etag, etag)
}).annotate({ identifier: "UploadedPart" })
