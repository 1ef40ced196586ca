/** The streams of the platform, and functions on them for `Request` and `Response`. */
import {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  ReadableByteStreamController,
  ReadableStream,
  ReadableStreamBYOBReader,
  ReadableStreamBYOBRequest,
  ReadableStreamDefaultController,
  ReadableStreamDefaultReader,
  TransformStream,
  TransformStreamDefaultController,
  WritableStream,
  WritableStreamDefaultController,
  WritableStreamDefaultWriter
} from "web-streams-polyfill"
import type { Source } from "./body.ts"
import { concat } from "./bytes.ts"
import { brand } from "./define.ts"

export {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  ReadableByteStreamController,
  ReadableStream,
  ReadableStreamBYOBReader,
  ReadableStreamBYOBRequest,
  ReadableStreamDefaultController,
  ReadableStreamDefaultReader,
  TransformStream,
  TransformStreamDefaultController,
  WritableStream,
  WritableStreamDefaultController,
  WritableStreamDefaultWriter
}

brand(
  {
    ByteLengthQueuingStrategy,
    CountQueuingStrategy,
    ReadableByteStreamController,
    ReadableStream,
    ReadableStreamBYOBReader,
    ReadableStreamBYOBRequest,
    ReadableStreamDefaultController,
    ReadableStreamDefaultReader,
    TransformStream,
    TransformStreamDefaultController,
    WritableStream,
    WritableStreamDefaultController,
    WritableStreamDefaultWriter
  },
  false
)

/** True if anything was read from `stream`, or it was cancelled. */
export const isDisturbed = (stream: ReadableStream<unknown>): boolean =>
  // The standard exposes this only to `Request` and `Response`, so the library has no public name for it.
  Reflect.get(stream, "_disturbed") === true

/** Returns a stream of one chunk, a copy, because its reader may transfer or change it. */
export const createStream = (bytes: Uint8Array): ReadableStream<Uint8Array> =>
  new ReadableStream({
    type: "bytes",
    pull: (controller) => {
      if (bytes.length > 0) {
        controller.enqueue(bytes.slice())
      }
      controller.close()
      controller.byobRequest?.respond(0)
    }
  })

/** Returns a stream that reads a chunk from the source per pull. */
export const streamFrom = (source: Source): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      type: "bytes",
      pull: async (controller) => {
        const chunk = await source.read()
        if (chunk !== null) {
          controller.enqueue(chunk)
          return
        }
        controller.close()
        controller.byobRequest?.respond(0)
      },
      cancel: () => source.cancel()
    },
    { highWaterMark: 0 }
  )

/** Reads the whole stream. Rejects with a `TypeError` at a chunk that is not bytes. */
export const readAll = async (stream: ReadableStream<unknown>): Promise<Uint8Array<ArrayBuffer>> => {
  const reader = stream.getReader()
  const chunks: Array<Uint8Array> = []
  while (true) {
    const { done, value } = await reader.read()
    if (done) {
      return concat(chunks)
    }
    if (!(value instanceof Uint8Array)) {
      const error = new TypeError("Received a chunk that is not a Uint8Array")
      await reader.cancel(error)
      throw error
    }
    chunks.push(value)
  }
}
