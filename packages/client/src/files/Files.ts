/** Files: the API's methods, and uploads of any size. */
import { FilesEndpoints } from "../generated/FilesEndpoints.ts"
import type { UploadedFile, UploadedPart } from "../generated/Records.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { type Envelope, json } from "../transport/Caller.ts"
import { path } from "../transport/Path.ts"
import { byteLength, type Chunk, type Source } from "./PartReader.ts"
import { type UploadOptions, upload } from "./Upload.ts"

export interface PutOptions extends RequestOptions {
  /** `application/octet-stream` by default. */
  readonly contentType?: string | undefined
}

/** Minimum transfer rate, in bytes per millisecond. Slower uploads time out. */
const minBytesPerMs = 16

export class Files extends FilesEndpoints {
  /**
   * Uploads a file of any size, and replaces an existing file at the path. Small files need one request. Large files are
   * uploaded in concurrent parts, with the same result.
   */
  upload(filePath: string, source: Source, options: UploadOptions = {}): Promise<UploadedFile> {
    return upload({ files: this, caller: this.caller }, filePath, source, options)
  }

  /** Uploads a file of at most 300 MB in one request. `PUT /v1/files/upload/{path}` */
  put(filePath: string, bytes: Blob | Uint8Array | string, options: PutOptions = {}): Promise<UploadedFile> {
    const { contentType = "application/octet-stream" } = options
    return this.#send(path`/v1/files/upload/${filePath}`, toBody(bytes), contentType, options)
  }

  /** Uploads a part, and replaces a part of the same number. `PUT /v1/files/uploads/{upload_id}/{part_number}` */
  putPart(
    uploadId: string,
    partNumber: number,
    bytes: Blob | Uint8Array,
    options: RequestOptions = {}
  ): Promise<UploadedPart> {
    const url = path`/v1/files/uploads/${uploadId}/${partNumber}`
    return this.#send(url, toBody(bytes), "application/octet-stream", options)
  }

  async #send<T>(url: string, body: Chunk, contentType: string, options: RequestOptions): Promise<T> {
    const { connection } = this.caller
    const { timeoutMs = connection.timeoutMs + byteLength(body) / minBytesPerMs } = options
    const { data } = await connection.send(
      {
        method: "PUT",
        path: url,
        headers: { "content-type": contentType },
        body,
        isRepeatable: true,
        options: { ...options, timeoutMs }
      },
      json<Envelope<T>>
    )
    return data
  }
}

/** Converts bytes into a body. Copies arrays, because `fetch` rejects memory shared between threads. */
const toBody = (bytes: Blob | Uint8Array | string): Chunk => {
  if (bytes instanceof Blob) return bytes
  return typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes.slice()
}
