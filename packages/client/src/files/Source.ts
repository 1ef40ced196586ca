/** What can be uploaded, cut into parts. */

/** A `File` is a `Blob`. Streams are read once; their length need not be known. */
export type Source = Blob | Uint8Array | ArrayBuffer | string | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

export type Piece = Blob | Uint8Array<ArrayBuffer>

/** Gives a source piece by piece, in order. */
export interface Cutter {
  /** Bytes; null where only the end of the source tells. */
  readonly size: number | null
  /** Whether no more than so many bytes are left, looking ahead if need be. */
  readonly endsWithin: (bytes: number) => Promise<boolean>
  /** The next bytes, fewer only at the end. */
  readonly take: (bytes: number) => Promise<Piece>
  /** Lets go of the source. */
  readonly end: () => Promise<void>
}

export const sizeOf = (piece: Piece): number => (piece instanceof Blob ? piece.size : piece.byteLength)

export const cutterOf = (source: Source): Cutter => {
  if (source instanceof Blob) return ofKnown(source.size, (start, end) => source.slice(start, end))
  if (typeof source === "string") return cutterOf(new TextEncoder().encode(source))
  if (source instanceof ArrayBuffer) return cutterOf(new Uint8Array(source))
  if (source instanceof Uint8Array) return ofKnown(source.byteLength, (start, end) => source.slice(start, end))
  return ofStream(source instanceof ReadableStream ? chunksOf(source) : source[Symbol.asyncIterator]())
}

const ofKnown = (size: number, slice: (start: number, end: number) => Piece): Cutter => {
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

/** Not every browser lets streams be iterated. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
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

const ofStream = (chunks: AsyncIterator<Uint8Array>): Cutter => {
  const held: Array<Uint8Array> = []
  let heldBytes = 0
  let isOver = false

  const hold = async (bytes: number): Promise<void> => {
    while (!isOver && heldBytes < bytes) {
      const { done, value } = await chunks.next()
      if (done === true) isOver = true
      else if (value.byteLength > 0) {
        held.push(value)
        heldBytes += value.byteLength
      }
    }
  }

  return {
    size: null,
    endsWithin: async (bytes) => {
      await hold(bytes + 1)
      return heldBytes <= bytes
    },
    take: async (bytes) => {
      await hold(bytes)
      const piece = new Uint8Array(Math.min(bytes, heldBytes))
      for (let filled = 0; filled < piece.byteLength; ) {
        const [chunk = new Uint8Array()] = held
        const part = chunk.subarray(0, piece.byteLength - filled)
        piece.set(part, filled)
        filled += part.byteLength
        if (part.byteLength === chunk.byteLength) held.shift()
        else held[0] = chunk.subarray(part.byteLength)
      }
      heldBytes -= piece.byteLength
      return piece
    },
    end: async () => {
      await chunks.return?.()
    }
  }
}
