/** Sources of uploads, read in parts. */

/** The content of an upload. A `File` is a `Blob`. Streams are read once, and their length may be unknown. */
export type Source = Blob | Uint8Array | ArrayBuffer | string | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

export type Chunk = Blob | Uint8Array<ArrayBuffer>

/** Reads a source part by part, in order. */
export interface PartReader {
  /** Size in bytes; null for streams of unknown length. */
  readonly size: number | null
  /** Resolves with true if at most `bytes` bytes are left. May read ahead. */
  readonly endsWithin: (bytes: number) => Promise<boolean>
  /** Resolves with the next bytes, fewer only at the end. */
  readonly take: (bytes: number) => Promise<Chunk>
  /** Releases the source. */
  readonly end: () => Promise<void>
}

export const byteLength = (chunk: Chunk): number => (chunk instanceof Blob ? chunk.size : chunk.byteLength)

export const makePartReader = (source: Source): PartReader => {
  if (source instanceof Blob) return sliceReader(source.size, (start, end) => source.slice(start, end))
  if (typeof source === "string") return makePartReader(new TextEncoder().encode(source))
  if (source instanceof ArrayBuffer) return makePartReader(new Uint8Array(source))
  if (source instanceof Uint8Array) return sliceReader(source.byteLength, (start, end) => source.slice(start, end))
  return streamReader(source instanceof ReadableStream ? iterate(source) : source[Symbol.asyncIterator]())
}

const sliceReader = (size: number, slice: (start: number, end: number) => Chunk): PartReader => {
  let offset = 0
  return {
    size,
    endsWithin: (bytes) => Promise.resolve(size - offset <= bytes),
    take: (bytes) => {
      const start = offset
      offset = Math.min(size, offset + bytes)
      return Promise.resolve(slice(start, offset))
    },
    end: () => Promise.resolve()
  }
}

/** Iterates a stream. Some browsers lack async iteration of streams. */
async function* iterate(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

const streamReader = (chunks: AsyncIterator<Uint8Array>): PartReader => {
  const buffer: Array<Uint8Array> = []
  let bufferedBytes = 0
  let isEnded = false

  const fill = async (bytes: number): Promise<void> => {
    while (!isEnded && bufferedBytes < bytes) {
      const { done, value } = await chunks.next()
      if (done === true) isEnded = true
      else if (value.byteLength > 0) {
        buffer.push(value)
        bufferedBytes += value.byteLength
      }
    }
  }

  return {
    size: null,
    endsWithin: async (bytes) => {
      await fill(bytes + 1)
      return bufferedBytes <= bytes
    },
    take: async (bytes) => {
      await fill(bytes)
      const part = new Uint8Array(Math.min(bytes, bufferedBytes))
      for (let filled = 0; filled < part.byteLength; ) {
        const [chunk = new Uint8Array()] = buffer
        const slice = chunk.subarray(0, part.byteLength - filled)
        part.set(slice, filled)
        filled += slice.byteLength
        if (slice.byteLength === chunk.byteLength) buffer.shift()
        else buffer[0] = chunk.subarray(slice.byteLength)
      }
      bufferedBytes -= part.byteLength
      return part
    },
    end: async () => {
      await chunks.return?.()
    }
  }
}
