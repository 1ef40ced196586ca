/** Files: list, look up, download, upload in one request or in parts, delete. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Single } from "../envelope/Envelope.ts"
import { FileList } from "../envelope/FileList.ts"
import { NotFoundError, PlanRequiredError } from "../errors/ErrorSchemas.ts"
import {
  FileLinkRecord,
  FileRecord,
  MultipartUploadRecord,
  UploadedFileRecord,
  UploadedPartRecord
} from "../records/FileRecords.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, summary, tag } from "./Documentation.ts"
import { fileBytes, partOfFile, RangeNotSatisfiable } from "./FileBytes.ts"
import { pageQuery } from "./PageQuery.ts"

const fileParams = { file_id: Schema.String }
const uploadParams = { upload_id: Schema.String }

const UploadedFileResponse = Single("UploadedFileResponse", UploadedFileRecord)

const NewUpload = Schema.Struct({
  path: Schema.String.annotate({ description: "1 to 1024 bytes of segments separated by /" }),
  expected_size: Schema.optionalKey(
    Schema.Int.annotate({ description: "Bytes; checked against the plan at once, and held to when it is completed" })
  ),
  content_type: Schema.optionalKey(Schema.String.annotate({ description: "application/octet-stream by default" }))
}).annotate({ identifier: "MultipartUploadInput" })

const NewLink = Schema.Struct({
  expires_in: Schema.optionalKey(Schema.Int.annotate({ description: "Seconds, 1 to 604800; default 3600" }))
}).annotate({ identifier: "FileLinkInput" })

export class FilesApi extends HttpApiGroup.make("files")
  .add(
    HttpApiEndpoint.get("list", "/v1/files", {
      query: {
        ...pageQuery,
        prefix: Schema.optionalKey(Schema.String.annotate({ description: "Only paths that begin so" }))
      },
      success: FileList
    }).annotateMerge(summary("List files, by path")),
    HttpApiEndpoint.put("upload", "/v1/files/upload/:path", {
      params: { path: Schema.String.annotate({ description: "May hold slashes, as they are or encoded" }) },
      payload: fileBytes,
      success: UploadedFileResponse,
      error: PlanRequiredError
    }).annotateMerge(
      summary("Upload a file of at most 300 MB, with its Content-Type, in place of one at the path if there is one")
    ),
    HttpApiEndpoint.post("initiate", "/v1/files/uploads", {
      payload: NewUpload,
      success: Single("MultipartUploadResponse", MultipartUploadRecord).pipe(HttpApiSchema.status(201)),
      error: PlanRequiredError
    }).annotateMerge(summary("Begin to upload a file in parts")),
    HttpApiEndpoint.put("putPart", "/v1/files/uploads/:upload_id/:part_number", {
      params: { ...uploadParams, part_number: Schema.String.annotate({ description: "1 to 10000" }) },
      payload: fileBytes,
      success: Single("UploadedPartResponse", UploadedPartRecord),
      error: [NotFoundError, PlanRequiredError]
    }).annotateMerge(
      summary("Upload a part of at most 256 MB, and unless it is the last at least 5 MB, in place of one of its number")
    ),
    HttpApiEndpoint.post("complete", "/v1/files/uploads/:upload_id/complete", {
      params: uploadParams,
      success: UploadedFileResponse,
      error: [NotFoundError, PlanRequiredError]
    }).annotateMerge(summary("Make a file of the parts")),
    HttpApiEndpoint.delete("abort", "/v1/files/uploads/:upload_id", {
      params: uploadParams,
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    }).annotateMerge(summary("Abort an upload and remove its parts")),
    HttpApiEndpoint.get("get", "/v1/files/:file_id", {
      params: fileParams,
      success: Single("FileResponse", FileRecord),
      error: NotFoundError
    }).annotateMerge(summary("Get a file's record")),
    HttpApiEndpoint.get("download", "/v1/files/:file_id/download", {
      params: fileParams,
      success: [fileBytes, partOfFile, HttpApiSchema.Empty(304), HttpApiSchema.Empty(307)],
      error: [NotFoundError, RangeNotSatisfiable]
    }).annotateMerge(summary("Download a file, or a range of it")),
    HttpApiEndpoint.post("link", "/v1/files/:file_id/links", {
      params: fileParams,
      payload: NewLink,
      success: Single("FileLinkResponse", FileLinkRecord).pipe(HttpApiSchema.status(201)),
      error: NotFoundError
    }).annotateMerge(extension("Make a link to a file: a URL that needs no credential")),
    HttpApiEndpoint.delete("remove", "/v1/files/:file_id", {
      params: fileParams,
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    }).annotateMerge(summary("Delete a file"))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Files", "Bytes under paths of the environment")) {}
