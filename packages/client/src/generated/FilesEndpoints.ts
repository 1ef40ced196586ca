/** The methods of `files`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { Pages } from "../Pages.ts"
import type { BytesOptions, RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { FileLinkInput, FilesListQuery, MultipartUploadInput } from "./Inputs.ts"
import type { File, FileLink, MultipartUpload, UploadedFile } from "./Records.ts"

export class FilesEndpoints extends Endpoints {
  /** List files, by path. `GET /v1/files` */
  list(query: FilesListQuery = {}, options: RequestOptions = {}): Pages<File> {
    return this.caller.list("/v1/files", options, query)
  }

  /** Start a multipart upload. `POST /v1/files/uploads` */
  initiate(input: MultipartUploadInput, options: RequestOptions = {}): Promise<MultipartUpload> {
    return this.caller.one("POST", "/v1/files/uploads", options, { body: input })
  }

  /** Complete a multipart upload: store the file of its parts. `POST /v1/files/uploads/{upload_id}/complete` */
  complete(uploadId: string, options: RequestOptions = {}): Promise<UploadedFile> {
    return this.caller.one("POST", path`/v1/files/uploads/${uploadId}/complete`, options)
  }

  /** Abort a multipart upload and remove its parts. `DELETE /v1/files/uploads/{upload_id}` */
  abort(uploadId: string, options: RequestOptions = {}): Promise<void> {
    return this.caller.none("DELETE", path`/v1/files/uploads/${uploadId}`, options)
  }

  /** Get a file's record. `GET /v1/files/{file_id}` */
  get(fileId: string, options: RequestOptions = {}): Promise<File> {
    return this.caller.one("GET", path`/v1/files/${fileId}`, options)
  }

  /** Download a file, or a range of it. `GET /v1/files/{file_id}/download` */
  download(fileId: string, options: BytesOptions = {}): Promise<Response> {
    return this.caller.bytes(path`/v1/files/${fileId}/download`, options)
  }

  /** Create a link to a file: a URL that needs no credential. `POST /v1/files/{file_id}/links` */
  link(fileId: string, input: FileLinkInput = {}, options: RequestOptions = {}): Promise<FileLink> {
    return this.caller.one("POST", path`/v1/files/${fileId}/links`, options, { body: input })
  }

  /** Delete a file. `DELETE /v1/files/{file_id}` */
  remove(fileId: string, options: RequestOptions = {}): Promise<void> {
    return this.caller.none("DELETE", path`/v1/files/${fileId}`, options)
  }
}
