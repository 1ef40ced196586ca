/** A pair of streams around a codec. It computes a chunk of output only when the chunk before was read. */
import type {
  ReadableStream as Readable,
  ReadableStreamDefaultController,
  WritableStream as Writable,
  WritableStreamDefaultController
} from "../platform/streams.ts"

const { ReadableStream, WritableStream } = platform.streams()
const { isBufferSource, copyBytes } = platform.bytes()

export interface Codec {
  readonly push: (input: Uint8Array) => Iterable<Uint8Array>
  readonly finish: () => Iterable<Uint8Array>
}

export class Pipe {
  readonly readable: Readable<Uint8Array>
  readonly writable: Writable<unknown>
  #output: ReadableStreamDefaultController<Uint8Array> | undefined
  #input: WritableStreamDefaultController | undefined
  /** Settles when the reader wants a chunk. */
  #demand = Promise.withResolvers<void>()
  /** Settles when the reader has its chunk. */
  #delivery = Promise.withResolvers<void>()

  constructor(codec: Codec) {
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#output = controller
        },
        pull: () => {
          this.#demand.resolve()
          return this.#delivery.promise
        },
        cancel: (reason) => {
          this.#input?.error(reason)
          this.#demand.resolve()
        }
      },
      { highWaterMark: 0 }
    )
    this.writable = new WritableStream<unknown>({
      start: (controller) => {
        this.#input = controller
      },
      write: async (chunk) => {
        await this.#demand.promise
        await this.#send(() => codec.push(readChunk(chunk)))
      },
      close: async () => {
        await this.#send(codec.finish)
        this.#output?.close()
        this.#delivery.resolve()
      },
      abort: (reason) => {
        this.#output?.error(reason)
        this.#delivery.resolve()
      }
    })
  }

  async #send(compute: () => Iterable<Uint8Array>): Promise<void> {
    try {
      for (const chunk of compute()) {
        await this.#demand.promise
        this.#demand = Promise.withResolvers()
        const delivered = this.#delivery
        this.#delivery = Promise.withResolvers()
        this.#output?.enqueue(chunk)
        delivered.resolve()
      }
    } catch (error) {
      this.#output?.error(error)
      this.#delivery.resolve()
      throw error
    }
  }
}

const readChunk = (chunk: unknown): Uint8Array => {
  if (!isBufferSource(chunk) || isShared(chunk)) {
    throw new TypeError("The chunk must be an ArrayBuffer or a view of one.")
  }
  return copyBytes(chunk)
}

const isShared = (chunk: object): boolean => {
  const buffer: unknown = ArrayBuffer.isView(chunk) ? chunk.buffer : chunk
  return !(buffer instanceof ArrayBuffer)
}
