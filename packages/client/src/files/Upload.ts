/** Uploads of any size: in one request, or in parts that go up beside each other. */
import { WeftError } from "../errors/WeftError.ts"
import type { UploadedFile, UploadedPart } from "../generated/Records.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { type Caller, type Envelope, json } from "../transport/Caller.ts"
import { path } from "../transport/Path.ts"
import { isPassing } from "../transport/Pause.ts"
import type { Files } from "./Files.ts"
import { type Cutter, cutterOf, type Piece, type Source, sizeOf } from "./Source.ts"

export interface UploadProgress {
  /** Bytes that the server has acknowledged. */
  readonly sent: number
  /** Bytes; null while a stream has not ended. */
  readonly total: number | null
}

/** Where an upload in parts stands: JSON, to be kept and to be handed to a later `upload` as `resume`. */
export interface UploadState {
  readonly upload_id: string
  /** Bytes of each part but the last. */
  readonly part_size: number
  /** Bytes; null for a stream. */
  readonly size: number | null
  readonly parts: ReadonlyArray<UploadedPart>
}

export interface UploadOptions extends RequestOptions {
  /** The type of a `Blob`, or `application/octet-stream`, by default. */
  readonly contentType?: string | undefined
  /** Bytes of each part but the last, 5 MiB to 256 MB. What the server recommends by default. */
  readonly partSize?: number | undefined
  /** How many parts are under way at once; 4 by default. Of streams, so many are held in memory. */
  readonly concurrency?: number | undefined
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined
  /**
   * Told of each part that is there. Who listens means to resume: an upload that fails keeps its parts on the server,
   * for 24 hours. Without it, and when the signal aborts, they are removed.
   */
  readonly onState?: ((state: UploadState) => void) | undefined
  /** An earlier upload of the same bytes to the same path: parts that are there are not sent again. */
  readonly resume?: UploadState | undefined
}

interface Part {
  readonly number: number
  readonly piece: Piece
}

/** Up to here one request does; and the size of parts that servers recommend. */
const singleBytesMax = 8 * 1024 ** 2

/** What uploads are made of. */
export interface Means {
  readonly files: Files
  readonly caller: Caller
}

export const upload = async (
  means: Means,
  filePath: string,
  source: Source,
  options: UploadOptions
): Promise<UploadedFile> => {
  const cutter = cutterOf(source)
  const type = options.contentType ?? (source instanceof Blob && source.type !== "" ? source.type : undefined)
  try {
    if (options.resume === undefined && (await cutter.endsWithin(singleBytesMax))) {
      return await inOne(means.files, filePath, await cutter.take(singleBytesMax), type, options)
    }
    return await new PartedUpload(means, filePath, cutter, options).run(type)
  } finally {
    await cutter.end()
  }
}

const inOne = async (
  files: Files,
  filePath: string,
  piece: Piece,
  contentType: string | undefined,
  options: UploadOptions
): Promise<UploadedFile> => {
  const total = sizeOf(piece)
  options.onProgress?.({ sent: 0, total })
  const file = await files.put(filePath, piece, { ...requestOf(options), contentType })
  options.onProgress?.({ sent: total, total })
  return file
}

const requestOf = ({ signal, timeoutMs, retry }: RequestOptions): RequestOptions => ({ signal, timeoutMs, retry })

class PartedUpload {
  readonly #files: Files
  readonly #caller: Caller
  readonly #path: string
  readonly #cutter: Cutter
  readonly #options: UploadOptions
  /** Aborted when a part has failed: no more are begun. */
  readonly #failed = new AbortController()
  readonly #parts = new Map<number, UploadedPart>()

  constructor({ files, caller }: Means, filePath: string, cutter: Cutter, options: UploadOptions) {
    this.#files = files
    this.#caller = caller
    this.#path = filePath
    this.#cutter = cutter
    this.#options = options
  }

  async run(contentType: string | undefined): Promise<UploadedFile> {
    const { resume, onState, signal } = this.#options
    const state = resume ?? (await this.#begin(contentType))
    if (resume !== undefined && resume.size !== this.#cutter.size) {
      throw new TypeError("The upload to resume was one of another size")
    }
    for (const part of state.parts) this.#parts.set(part.part_number, part)
    this.#tell(state)
    try {
      await this.#sendAll(state)
      return await this.#complete(state)
    } catch (error) {
      if (onState === undefined || signal?.aborted === true) await this.#discard(state)
      throw error
    }
  }

  async #begin(contentType: string | undefined): Promise<UploadState> {
    const { size } = this.#cutter
    const { upload_id, part_size } = await this.#files.initiate(
      { path: this.#path, content_type: contentType, expected_size: size ?? undefined },
      requestOf(this.#options)
    )
    return { upload_id, part_size: this.#options.partSize ?? part_size, size, parts: [] }
  }

  async #sendAll(state: UploadState): Promise<void> {
    const parts = this.#missing(state)
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

  /** The parts that are not there yet. A generator is asked by one worker after the other, so that parts keep order. */
  async *#missing({ part_size }: UploadState): AsyncGenerator<Part, void, undefined> {
    for (let number = 1; ; number++) {
      const isLast = await this.#cutter.endsWithin(part_size)
      const piece = await this.#cutter.take(part_size)
      const there = this.#parts.get(number)
      if (there !== undefined && there.size !== sizeOf(piece)) {
        throw new TypeError(`Part ${number} of the upload to resume has other bytes than the source`)
      }
      if (there === undefined) yield { number, piece }
      if (isLast) return
    }
  }

  async #send(state: UploadState, { number, piece }: Part): Promise<void> {
    const { signal, onState } = this.#options
    // Who means to resume keeps what can still be had.
    const signals = [...(signal === undefined ? [] : [signal]), ...(onState === undefined ? [this.#failed.signal] : [])]
    const options = { ...requestOf(this.#options), signal: AbortSignal.any(signals) }
    this.#parts.set(number, await this.#files.putPart(state.upload_id, number, piece, options))
    this.#tell(state)
  }

  #tell(state: UploadState): void {
    const parts = [...this.#parts.values()].sort((a, b) => a.part_number - b.part_number)
    const sent = parts.reduce((sum, part) => sum + part.size, 0)
    this.#options.onState?.({ ...state, parts })
    this.#options.onProgress?.({ sent, total: state.size })
  }

  /** When the answer is lost the upload may be complete, and is unknown then to who completes it again. */
  async #complete({ upload_id, size }: UploadState): Promise<UploadedFile> {
    const options = requestOf(this.#options)
    try {
      return await this.#files.complete(upload_id, options)
    } catch (error) {
      if (!isPassing(error)) throw error
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
    const place = path`/v1/files/uploads/${uploadId}/complete`
    const sending = { method: "POST", path: place, isRepeatable: true, options }
    const { data } = await this.#caller.connection.send(sending, json<Envelope<UploadedFile>>)
    return data
  }

  /** The failure that led here is what the caller is to hear of. */
  async #discard({ upload_id }: UploadState): Promise<void> {
    await this.#files.abort(upload_id).catch(() => undefined)
  }
}
