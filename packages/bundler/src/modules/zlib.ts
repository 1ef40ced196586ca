/** `node:zlib`, by the package `fflate`. Brotli and Zstandard do not exist, so that clients do not offer them. */
import { Buffer } from "node:buffer"
import { Transform } from "node:stream"
import * as fflate from "fflate"
import { codes, constants } from "unenv/node/zlib"
import { refuse } from "./refuse.ts"

interface Options {
  readonly level?: number
  readonly dictionary?: Uint8Array
}

type Input = string | ArrayBuffer | NodeJS.ArrayBufferView
type Level = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
type Done = (error: Error | null, result?: Buffer) => void

interface Codec {
  ondata?: fflate.FlateStreamHandler
  push: (chunk: Uint8Array<ArrayBuffer>, final?: boolean) => void
}

const isLevel = (level: number): level is Level => Number.isInteger(level) && level >= 0 && level <= 9

const toSettings = ({ level = 6, dictionary }: Options = {}): fflate.DeflateOptions => ({
  ...(isLevel(level) ? { level } : {}),
  ...(dictionary === undefined ? {} : { dictionary })
})

const toBytes = (input: Input): Uint8Array => {
  if (typeof input === "string") return Buffer.from(input)
  if (input instanceof ArrayBuffer) return new Uint8Array(input)
  return new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
}

const toZlibError = (thrown: unknown): Error => {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const code = message.includes("EOF") ? "Z_BUF_ERROR" : "Z_DATA_ERROR"
  return Object.assign(new Error(message), { code, errno: code === "Z_BUF_ERROR" ? -5 : -3 })
}

/** A stream that passes its chunks through a codec. */
class Zlib extends Transform {
  readonly #codec: Codec
  bytesWritten = 0

  constructor(codec: Codec, options: object = {}) {
    super(options)
    this.#codec = codec
    codec.ondata = (chunk) => void (chunk.length > 0 && this.push(Buffer.from(chunk)))
  }

  override _transform(chunk: Uint8Array, _encoding: string, done: (error?: Error) => void): void {
    this.bytesWritten += chunk.length
    this.#pass(chunk, false, done)
  }

  override _flush(done: (error?: Error) => void): void {
    this.#pass(new Uint8Array(0), true, done)
  }

  #pass(chunk: Uint8Array, final: boolean, done: (error?: Error) => void): void {
    try {
      // fflate keeps chunks; writers may reuse their buffers.
      this.#codec.push(Uint8Array.from(chunk), final)
      done()
    } catch (thrown) {
      done(toZlibError(thrown))
    }
  }

  flush(...given: ReadonlyArray<unknown>): void {
    const done = given.at(-1)
    if (typeof done === "function") queueMicrotask(() => void done())
  }

  close(done?: () => void): void {
    this.destroy()
    if (done !== undefined) queueMicrotask(done)
  }
}

const makeClass = (make: (settings: fflate.DeflateOptions) => Codec) =>
  class extends Zlib {
    constructor(options?: Options) {
      super(make(toSettings(options)), options)
    }
  }

export const Gzip = makeClass((settings) => new fflate.Gzip(settings))
export const Gunzip = makeClass(() => new fflate.Gunzip())
export const Deflate = makeClass((settings) => new fflate.Zlib(settings))
export const Inflate = makeClass((settings) => new fflate.Unzlib(settings))
export const DeflateRaw = makeClass((settings) => new fflate.Deflate(settings))
export const InflateRaw = makeClass((settings) => new fflate.Inflate(settings))
export const Unzip = makeClass(() => new fflate.Decompress())

export const createGzip = (options?: Options) => new Gzip(options)
export const createGunzip = (options?: Options) => new Gunzip(options)
export const createDeflate = (options?: Options) => new Deflate(options)
export const createInflate = (options?: Options) => new Inflate(options)
export const createDeflateRaw = (options?: Options) => new DeflateRaw(options)
export const createInflateRaw = (options?: Options) => new InflateRaw(options)
export const createUnzip = (options?: Options) => new Unzip(options)

const makeSync =
  (convert: (bytes: Uint8Array, settings: fflate.DeflateOptions) => Uint8Array) =>
  (input: Input, options?: Options): Buffer => {
    try {
      const result = convert(toBytes(input), toSettings(options))
      return Buffer.from(result.buffer, result.byteOffset, result.byteLength)
    } catch (thrown) {
      throw toZlibError(thrown)
    }
  }

export const gzipSync = makeSync((bytes, settings) => fflate.gzipSync(bytes, settings))
export const gunzipSync = makeSync((bytes) => fflate.gunzipSync(bytes))
export const deflateSync = makeSync((bytes, settings) => fflate.zlibSync(bytes, settings))
export const inflateSync = makeSync((bytes, settings) => fflate.unzlibSync(bytes, settings))
export const deflateRawSync = makeSync((bytes, settings) => fflate.deflateSync(bytes, settings))
export const inflateRawSync = makeSync((bytes, settings) => fflate.inflateSync(bytes, settings))
export const unzipSync = makeSync((bytes) => fflate.decompressSync(bytes))

const makeAsync =
  (convert: (input: Input, options?: Options) => Buffer) =>
  (input: Input, ...rest: readonly [Done] | readonly [Options, Done]): void => {
    const [options, done] = rest.length === 1 ? [undefined, rest[0]] : rest
    queueMicrotask(() => {
      try {
        done(null, convert(input, options))
      } catch (error) {
        done(toZlibError(error))
      }
    })
  }

export const gzip = makeAsync(gzipSync)
export const gunzip = makeAsync(gunzipSync)
export const deflate = makeAsync(deflateSync)
export const inflate = makeAsync(inflateSync)
export const deflateRaw = makeAsync(deflateRawSync)
export const inflateRaw = makeAsync(inflateRawSync)
export const unzip = makeAsync(unzipSync)

const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

export const crc32 = (data: Input, value: number = 0): number => {
  let crc = ~value
  for (const byte of toBytes(data)) crc = (crcTable[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  return ~crc >>> 0
}

export { codes, constants }

/** Clients offer Brotli and Zstandard only if these exist. */
export const createBrotliCompress = undefined
export const createBrotliDecompress = undefined
export const createZstdCompress = undefined
export const createZstdDecompress = undefined
export const BrotliCompress = refuse("zlib.BrotliCompress")
export const BrotliDecompress = refuse("zlib.BrotliDecompress")
export const ZstdCompress = refuse("zlib.ZstdCompress")
export const ZstdDecompress = refuse("zlib.ZstdDecompress")
export const brotliCompress = refuse("zlib.brotliCompress")
export const brotliCompressSync = refuse("zlib.brotliCompressSync")
export const brotliDecompress = refuse("zlib.brotliDecompress")
export const brotliDecompressSync = refuse("zlib.brotliDecompressSync")
export const zstdCompress = refuse("zlib.zstdCompress")
export const zstdCompressSync = refuse("zlib.zstdCompressSync")
export const zstdDecompress = refuse("zlib.zstdDecompress")
export const zstdDecompressSync = refuse("zlib.zstdDecompressSync")

import * as all from "./zlib.ts"
export default /* @__PURE__ */ Object.assign({}, all, constants)
