/** Files: list, read, download, upload in one request or in parts, delete. */
import { FileId, UploadId } from "@weft/core/adapter"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { secretResponse } from "../access/SecretResponse.ts"
import { Single } from "../envelope/Envelope.ts"
import { FileList } from "../envelope/FileList.ts"
import { ContentDamagedError, NotFoundError, PlanRequiredError } from "../errors/ErrorSchemas.ts"
import {
  FileLinkRecord,
  FileRecord,
  MultipartUploadRecord,
  UploadedFileRecord,
  UploadedPartRecord
} from "../records/FileRecords.ts"
import { pathId } from "../records/Uuid.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, summary, tag } from "./Documentation.ts"
import { fileBytes, partOfFile, RangeNotSatisfiable } from "./FileBytes.ts"
import { pageQuery } from "./PageQuery.ts"

const fileParams = { file_id: pathId(FileId) }
const uploadParams = { upload_id: pathId(UploadId) }

const UploadedFileResponse = Single("UploadedFileResponse", UploadedFileRecord)

const NewUpload = Schema.Struct({
  path: Schema.String.annotate({
    description: "1 to 1024 bytes of segments separated by /",
    examples: ["invoices/2026/1042.pdf"]
  }),
  expected_size: Schema.optionalKey(
    Schema.Int.annotate({
      description: "Size in bytes; checked against the plan at once, and against the parts at completion",
      examples: [10_485_760]
    })
  ),
  content_type: Schema.optionalKey(
    Schema.String.annotate({ description: "application/octet-stream by default", examples: ["application/pdf"] })
  )
}).annotate({ identifier: "MultipartUploadInput" })

const NewLink = Schema.Struct({
  expires_in: Schema.optionalKey(
    Schema.Int.annotate({ description: "Lifetime in seconds, 1 to 604800; 3600 by default", examples: [3600] })
  )
}).annotate({ identifier: "FileLinkInput" })

export class FilesApi extends HttpApiGroup.make("files")
  .add(
    HttpApiEndpoint.get("list", "/v1/files", {
      query: {
        ...pageQuery,
        prefix: Schema.optionalKey(
          Schema.String.annotate({ description: "Only paths with this prefix", examples: ["invoices/"] })
        )
      },
      success: FileList
    })
      .annotateMerge(summary("List files, by path"))
      .annotateMerge(requires({ type: "file", action: "read", on: "resource" })),
    HttpApiEndpoint.put("upload", "/v1/files/upload/:path", {
      params: {
        path: Schema.String.annotate({
          description: "May contain slashes, plain or encoded",
          examples: ["invoices/2026/1042.pdf"]
        })
      },
      payload: fileBytes,
      success: UploadedFileResponse,
      error: PlanRequiredError
    })
      .annotateMerge(summary("Upload a file of at most 300 MB, with its Content-Type; replaces an existing file"))
      .annotateMerge(requires({ type: "file", action: "create", or: "update", on: "path" })),
    HttpApiEndpoint.post("initiate", "/v1/files/uploads", {
      payload: NewUpload,
      success: Single("MultipartUploadResponse", MultipartUploadRecord).pipe(HttpApiSchema.status(201)),
      error: PlanRequiredError
    })
      .annotateMerge(summary("Start a multipart upload"))
      .annotateMerge(requires({ type: "file", action: "create", or: "update", on: "body" })),
    HttpApiEndpoint.put("putPart", "/v1/files/uploads/:upload_id/:part_number", {
      params: { ...uploadParams, part_number: Schema.String.annotate({ description: "1 to 10000", examples: ["1"] }) },
      payload: fileBytes,
      success: Single("UploadedPartResponse", UploadedPartRecord),
      error: [NotFoundError, PlanRequiredError]
    })
      .annotateMerge(summary("Upload or replace a part of at most 256 MB, and at least 5 MB unless it is the last"))
      .annotateMerge(requires({ type: "file", action: "create", or: "update", on: "resource" })),
    HttpApiEndpoint.post("complete", "/v1/files/uploads/:upload_id/complete", {
      params: uploadParams,
      success: UploadedFileResponse,
      error: [NotFoundError, PlanRequiredError]
    })
      .annotateMerge(summary("Complete a multipart upload: store the file of its parts"))
      .annotateMerge(requires({ type: "file", action: "create", or: "update", on: "resource" })),
    HttpApiEndpoint.delete("abort", "/v1/files/uploads/:upload_id", {
      params: uploadParams,
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    })
      .annotateMerge(summary("Abort a multipart upload and remove its parts"))
      .annotateMerge(requires({ type: "file", action: "create", or: "update", on: "resource" })),
    HttpApiEndpoint.get("get", "/v1/files/:file_id", {
      params: fileParams,
      success: Single("FileResponse", FileRecord),
      error: NotFoundError
    })
      .annotateMerge(summary("Get a file's record"))
      .annotateMerge(requires({ type: "file", action: "read", on: "resource" })),
    HttpApiEndpoint.get("download", "/v1/files/:file_id/download", {
      params: fileParams,
      success: [fileBytes, partOfFile, HttpApiSchema.Empty(304), HttpApiSchema.Empty(307)],
      error: [NotFoundError, RangeNotSatisfiable, ContentDamagedError]
    })
      .annotateMerge(summary("Download a file, or a range of it"))
      .annotateMerge(requires({ type: "file", action: "read", on: "resource" })),
    HttpApiEndpoint.post("link", "/v1/files/:file_id/links", {
      params: fileParams,
      payload: NewLink,
      success: Single("FileLinkResponse", FileLinkRecord).pipe(HttpApiSchema.status(201)),
      error: NotFoundError
    })
      .annotateMerge(extension("Create a link to a file: a URL that needs no credential"))
      .annotateMerge(secretResponse)
      .annotateMerge(requires({ type: "file", action: "read", on: "resource" })),
    HttpApiEndpoint.delete("remove", "/v1/files/:file_id", {
      params: fileParams,
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    })
      .annotateMerge(summary("Delete a file"))
      .annotateMerge(requires({ type: "file", action: "delete", on: "resource" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Files", "Files of the environment, by path")) {}
