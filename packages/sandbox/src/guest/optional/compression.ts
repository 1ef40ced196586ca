/**
 * `CompressionStream` and `DecompressionStream`, by the package `pako`.
 *
 * The output is computed only as far as it is read: a compressed bomb fills no memory that its reader does not ask for.
 */
import {
  Z_BUF_ERROR,
  Z_DEFAULT_STRATEGY,
  Z_FINISH,
  Z_NO_FLUSH,
  Z_OK,
  Z_STREAM_END,
  ZStream,
  zlibDeflate,
  zlibDeflateInit2,
  zlibInflate,
  zlibInflateInit2
} from "pako"
import type { ReadableStream, WritableStream } from "../platform/streams.ts"
import { Pipe } from "./pipe.ts"

const { brand, requireArguments } = platform.define()

/** Maximum size of a chunk of output, in bytes. */
const chunkBytes = 64 * 1024
const level = 6
const memoryLevel = 8
const deflated = 8

/** Window sizes of zlib, which also select the format. */
const windowBits: ReadonlyMap<string, number> = new Map([
  ["deflate", 15],
  ["deflate-raw", -15],
  ["gzip", 31]
])

const readFormat = (given: unknown, of: string): number => {
  const format = `${given}`
  const bits = windowBits.get(format)
  if (bits === undefined) {
    throw new TypeError(`${of}: the format must be deflate, deflate-raw or gzip (got ${JSON.stringify(format)})`)
  }
  return bits
}

const setInput = (stream: ZStream, input: Uint8Array): void => {
  stream.input = input
  stream.next_in = 0
  stream.avail_in = input.length
}

/** Calls zlib once with an empty output buffer. Returns the status and the output. */
const step = (stream: ZStream, run: () => number): readonly [status: number, output: Uint8Array] => {
  stream.output = new Uint8Array(chunkBytes)
  stream.next_out = 0
  stream.avail_out = chunkBytes
  const status = run()
  return [status, stream.output.slice(0, stream.next_out)]
}

const startDeflating = (bits: number) => {
  const stream = new ZStream()
  zlibDeflateInit2(stream, level, deflated, bits, memoryLevel, Z_DEFAULT_STRATEGY)
  const drain = function* (input: Uint8Array, flush: typeof Z_NO_FLUSH | typeof Z_FINISH): Generator<Uint8Array> {
    setInput(stream, input)
    let isFull = true
    while (isFull) {
      const [, output] = step(stream, () => zlibDeflate(stream, flush))
      isFull = stream.avail_out === 0
      if (output.length > 0) {
        yield output
      }
    }
  }
  return {
    push: (input: Uint8Array) => drain(input, Z_NO_FLUSH),
    finish: () => drain(new Uint8Array(0), Z_FINISH)
  }
}

const startInflating = (bits: number) => {
  const stream = new ZStream()
  zlibInflateInit2(stream, bits)
  let hasEnded = false
  const push = function* (input: Uint8Array): Generator<Uint8Array> {
    setInput(stream, input)
    let isFull = true
    while (!hasEnded && (stream.avail_in > 0 || isFull)) {
      const [status, output] = step(stream, () => zlibInflate(stream, Z_NO_FLUSH))
      isFull = stream.avail_out === 0
      if (status === Z_STREAM_END) {
        hasEnded = true
      } else if (status !== Z_OK && status !== Z_BUF_ERROR) {
        throw new TypeError("DecompressionStream: the compressed data is invalid.")
      }
      if (output.length > 0) {
        yield output
      }
    }
    if (hasEnded && stream.avail_in > 0) {
      throw new TypeError("DecompressionStream: there is data after the end of the compressed data.")
    }
  }
  const finish = (): ReadonlyArray<Uint8Array> => {
    if (!hasEnded) {
      throw new TypeError("DecompressionStream: the compressed data is incomplete.")
    }
    return []
  }
  return { push, finish }
}

export class CompressionStream {
  readonly #pipe: Pipe

  constructor(format: string) {
    requireArguments(arguments, 1, "CompressionStream")
    this.#pipe = new Pipe(startDeflating(readFormat(format, "CompressionStream")))
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#pipe.readable
  }
  get writable(): WritableStream<unknown> {
    return this.#pipe.writable
  }
}

export class DecompressionStream {
  readonly #pipe: Pipe

  constructor(format: string) {
    requireArguments(arguments, 1, "DecompressionStream")
    this.#pipe = new Pipe(startInflating(readFormat(format, "DecompressionStream")))
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#pipe.readable
  }
  get writable(): WritableStream<unknown> {
    return this.#pipe.writable
  }
}

brand({ CompressionStream, DecompressionStream })
