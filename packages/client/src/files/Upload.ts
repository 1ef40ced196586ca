/** Uploads of any size: in one request, or in concurrent parts. */
import { WeftError } from "../errors/WeftError.ts"
import type { UploadedFile, UploadedPart } from "../generated/Records.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { type Caller, type Envelope, json } from "../transport/Caller.ts"
import { path } from "../transport/Path.ts"
import { isTransient } from "../transport/Retry.ts"
import type { Files } from "./Files.ts"
import { byteLength, type Chunk, makePartReader, type PartReader, type Source } from "./PartReader.ts"

export interface UploadProgress {
  /** Bytes that the server has acknowledged. */
  readonly sent: number
  /** Size in bytes; null while a stream has not ended. */
  readonly total: number | null
}

/** Progress of an upload in parts, as JSON. Can be stored and passed to a later `upload` as `resume`. */
export interface UploadState {
  readonly upload_id: string
  /** Size of each part but the last, in bytes. */
  readonly part_size: number
  /** Size in bytes; null for a stream. */
  readonly size: number | null
  readonly parts: ReadonlyArray<UploadedPart>
}

export interface UploadOptions extends RequestOptions {
  /** By default the type of a `Blob`, or `application/octet-stream`. */
  readonly contentType?: string | undefined
  /** Size of each part but the last, 5 MiB to 256 MB. By default the server's recommendation. */
  readonly partSize?: number | undefined
  /** Maximum parts in flight; 4 by default. That many parts of a stream are in memory. */
  readonly concurrency?: number | undefined
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined
  /**
   * Called after each uploaded part. With this option, a failed upload keeps its parts on the server for 24 hours, so
   * that it can be resumed. Without it, and when the signal aborts, the parts are removed.
   */
  readonly onState?: ((state: UploadState) => void) | undefined
  /** An earlier upload of the same bytes to the same path. Its uploaded parts are not sent again. */
  readonly resume?: UploadState | undefined
}

interface Part {
  readonly number: number
  readonly chunk: Chunk
}

/** Maximum size of uploads in one request, and the part size that servers recommend. In bytes. */
const singleBytesMax = 8 * 1024 ** 2

/** Dependencies of uploads. */
export interface UploadContext {
  readonly files: Files
  readonly caller: Caller
}

export const upload = async (
  context: UploadContext,
  filePath: string,
  source: Source,
  options: UploadOptions
): Promise<UploadedFile> => {
  const reader = makePartReader(source)
  const type = options.contentType ?? (source instanceof Blob && source.type !== "" ? source.type : undefined)
  try {
    if (options.resume === undefined && (await reader.endsWithin(singleBytesMax))) {
      return await uploadWhole(context.files, filePath, await reader.take(singleBytesMax), type, options)
    }
    return await new MultipartUpload(context, filePath, reader, options).run(type)
  } finally {
    await reader.end()
  }
}

const uploadWhole = async (
  files: Files,
  filePath: string,
  chunk: Chunk,
  contentType: string | undefined,
  options: UploadOptions
): Promise<UploadedFile> => {
  const total = byteLength(chunk)
  options.onProgress?.({ sent: 0, total })
  const file = await files.put(filePath, chunk, { ...pickRequestOptions(options), contentType })
  options.onProgress?.({ sent: total, total })
  return file
}

const pickRequestOptions = ({ signal, timeoutMs, retry }: RequestOptions): RequestOptions => ({
  signal,
  timeoutMs,
  retry
})

class MultipartUpload {
  readonly #files: Files
  readonly #caller: Caller
  readonly #path: string
  readonly #reader: PartReader
  readonly #options: UploadOptions
  /** Aborted when a part has failed, so that no further parts start. */
  readonly #failed = new AbortController()
  readonly #parts = new Map<number, UploadedPart>()

  constructor({ files, caller }: UploadContext, filePath: string, reader: PartReader, options: UploadOptions) {
    this.#files = files
    this.#caller = caller
    this.#path = filePath
    this.#reader = reader
    this.#options = options
  }

  async run(contentType: string | undefined): Promise<UploadedFile> {
    const { resume, onState, signal } = this.#options
    const state = resume ?? (await this.#begin(contentType))
    if (resume !== undefined && resume.size !== this.#reader.size) {
      throw new TypeError("The size of the source differs from that of the upload to resume")
    }
    for (const part of state.parts) this.#parts.set(part.part_number, part)
    this.#report(state)
    try {
      await this.#sendAll(state)
      return await this.#complete(state)
    } catch (error) {
      if (onState === undefined || signal?.aborted === true) await this.#discard(state)
      throw error
    }
  }

  async #begin(contentType: string | undefined): Promise<UploadState> {
    const { size } = this.#reader
    const { upload_id, part_size } = await this.#files.initiate(
      { path: this.#path, content_type: contentType, expected_size: size ?? undefined },
      pickRequestOptions(this.#options)
    )
    return { upload_id, part_size: this.#options.partSize ?? part_size, size, parts: [] }
  }

  async #sendAll(state: UploadState): Promise<void> {
    const parts = this.#missingParts(state)
    const worker = async (): Promise<void> => {
      while (!this.#failed.signal.aborted) {
        const next = await parts.next()
        if (next.done === true) return
        await this.#send(state, next.value)
      }
    }
    const workers = Array.from({ length: Math.max(1, this.#options.concurrency ?? 4) }, worker)
    try {
      await Promise.all(workers)
    } catch (error) {
      this.#failed.abort()
      await Promise.allSettled(workers)
      throw error
    }
  }

  /** Yields the missing parts. Concurrent `next` calls of a generator run in order, so parts keep their order. */
  async *#missingParts({ part_size }: UploadState): AsyncGenerator<Part, void, undefined> {
    for (let number = 1; ; number++) {
      const isLast = await this.#reader.endsWithin(part_size)
      const chunk = await this.#reader.take(part_size)
      const existing = this.#parts.get(number)
      if (existing !== undefined && existing.size !== byteLength(chunk)) {
        throw new TypeError(`Part ${number} of the upload to resume has another size than in the source`)
      }
      if (existing === undefined) yield { number, chunk }
      if (isLast) return
    }
  }

  async #send(state: UploadState, { number, chunk }: Part): Promise<void> {
    const { signal, onState } = this.#options
    // A resumable upload keeps the parts that are already in flight.
    const signals = [...(signal === undefined ? [] : [signal]), ...(onState === undefined ? [this.#failed.signal] : [])]
    const options = { ...pickRequestOptions(this.#options), signal: AbortSignal.any(signals) }
    this.#parts.set(number, await this.#files.putPart(state.upload_id, number, chunk, options))
    this.#report(state)
  }

  #report(state: UploadState): void {
    const parts = [...this.#parts.values()].sort((a, b) => a.part_number - b.part_number)
    const sent = parts.reduce((sum, part) => sum + part.size, 0)
    this.#options.onState?.({ ...state, parts })
    this.#options.onProgress?.({ sent, total: state.size })
  }

  /** Completes the upload. If the response was lost, the upload may be complete, and a second attempt is then 404. */
  async #complete({ upload_id, size }: UploadState): Promise<UploadedFile> {
    const options = pickRequestOptions(this.#options)
    try {
      return await this.#files.complete(upload_id, options)
    } catch (error) {
      if (!isTransient(error)) throw error
    }
    try {
      return await this.#completeAgain(upload_id, options)
    } catch (error) {
      if (!(error instanceof WeftError && error.code === "not_found")) throw error
      const { items } = await this.#files.list({ prefix: this.#path, limit: 1 }, options)
      const file = items.find((one) => one.path === this.#path && (size === null || one.size === size))
      if (file === undefined) throw error
      return file
    }
  }

  async #completeAgain(uploadId: string, options: RequestOptions): Promise<UploadedFile> {
    const url = path`/v1/files/uploads/${uploadId}/complete`
    const request = { method: "POST", path: url, isRepeatable: true, options }
    const { data } = await this.#caller.connection.send(request, json<Envelope<UploadedFile>>)
    return data
  }

  /** Removes the parts. Ignores errors, because the caller receives the original one. */
  async #discard({ upload_id }: UploadState): Promise<void> {
    await this.#files.abort(upload_id).catch(() => undefined)
  }
}
