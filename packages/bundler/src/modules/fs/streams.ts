/** Streams of files. */
import { Buffer } from "node:buffer"
import { Readable, Writable } from "node:stream"
import { operations } from "./operations.ts"

interface StreamOptions {
  readonly start?: number
  readonly end?: number
  readonly encoding?: BufferEncoding
  readonly flags?: string
  readonly highWaterMark?: number
}

const toOptions = (options: StreamOptions | BufferEncoding | undefined): StreamOptions =>
  typeof options === "string" ? { encoding: options } : (options ?? {})

export class ReadStream extends Readable {
  readonly path: unknown
  bytesRead = 0
  readonly #start: number
  readonly #end: number
  #rest: Buffer | undefined

  constructor(path: unknown, given?: StreamOptions | BufferEncoding) {
    const { start = 0, end = Number.POSITIVE_INFINITY, encoding, highWaterMark = 65_536 } = toOptions(given)
    super({ highWaterMark, ...(encoding === undefined ? {} : { encoding }) })
    this.path = path
    this.#start = start
    this.#end = end
  }

  override _construct(done: (error?: Error) => void): void {
    try {
      const bytes = operations.readFile(this.path)
      this.#rest = Buffer.from(bytes).subarray(this.#start, this.#end + 1)
      done()
      this.emit("open", 0)
      this.emit("ready")
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
    }
  }

  override _read(size: number): void {
    const part = this.#rest?.subarray(0, size) ?? Buffer.alloc(0)
    this.#rest = this.#rest?.subarray(part.length)
    this.bytesRead += part.length
    this.push(part.length === 0 ? null : part)
  }

  close(done?: () => void): void {
    if (done !== undefined) this.once("close", done)
    this.destroy()
  }
}

export class WriteStream extends Writable {
  readonly path: unknown
  bytesWritten = 0
  readonly #flags: string
  #fd = -1

  constructor(path: unknown, given?: StreamOptions | BufferEncoding) {
    super()
    this.path = path
    this.#flags = toOptions(given).flags ?? "w"
  }

  override _construct(done: (error?: Error) => void): void {
    try {
      this.#fd = operations.open(this.path, this.#flags)
      done()
      this.emit("open", this.#fd)
      this.emit("ready")
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
    }
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    this.bytesWritten += operations.write(this.#fd, chunk)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (this.#fd >= 0) operations.close(this.#fd)
    this.#fd = -1
    done(error)
  }

  close(done?: () => void): void {
    if (done !== undefined) this.once("close", done)
    this.end()
  }
}

export const createReadStream = (path: unknown, options?: StreamOptions | BufferEncoding) =>
  new ReadStream(path, options)
export const createWriteStream = (path: unknown, options?: StreamOptions | BufferEncoding) =>
  new WriteStream(path, options)
