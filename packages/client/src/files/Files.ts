/** Files: what the API has, and uploads of any size. */
import { FilesEndpoints } from "../generated/FilesEndpoints.ts"
import type { UploadedFile, UploadedPart } from "../generated/Records.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { type Envelope, json } from "../transport/Caller.ts"
import { path } from "../transport/Path.ts"
import { type Piece, type Source, sizeOf } from "./Source.ts"
import { type UploadOptions, upload } from "./Upload.ts"

export interface PutOptions extends RequestOptions {
  /** `application/octet-stream` by default. */
  readonly contentType?: string | undefined
}

/** A connection that carries less is given up: 16 KB in a second. */
const slowestBytesPerMs = 16

export class Files extends FilesEndpoints {
  /**
   * Uploads a file of any size, in place of one at the path if there is one: small ones in one request, others in
   * parts beside each other, with the same result.
   */
  upload(filePath: string, source: Source, options: UploadOptions = {}): Promise<UploadedFile> {
    return upload({ files: this, caller: this.caller }, filePath, source, options)
  }

  /** Uploads a file of at most 300 MB in one request. `PUT /v1/files/upload/{path}` */
  put(filePath: string, bytes: Blob | Uint8Array | string, options: PutOptions = {}): Promise<UploadedFile> {
    const { contentType = "application/octet-stream" } = options
    return this.#send(path`/v1/files/upload/${filePath}`, sendable(bytes), contentType, options)
  }

  /** Uploads a part, in place of one of its number. `PUT /v1/files/uploads/{upload_id}/{part_number}` */
  putPart(
    uploadId: string,
    partNumber: number,
    bytes: Blob | Uint8Array,
    options: RequestOptions = {}
  ): Promise<UploadedPart> {
    const place = path`/v1/files/uploads/${uploadId}/${partNumber}`
    return this.#send(place, sendable(bytes), "application/octet-stream", options)
  }

  async #send<T>(place: string, body: Piece, contentType: string, options: RequestOptions): Promise<T> {
    const { connection } = this.caller
    const { timeoutMs = connection.timeoutMs + sizeOf(body) / slowestBytesPerMs } = options
    const { data } = await connection.send(
      {
        method: "PUT",
        path: place,
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

/** Bytes that are shared between threads cannot be sent: they are copied. */
const sendable = (bytes: Blob | Uint8Array | string): Piece => {
  if (bytes instanceof Blob) return bytes
  return typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes.slice()
}
