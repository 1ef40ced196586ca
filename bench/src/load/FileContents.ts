/** Generated file contents that are compared as a stream, so that neither side keeps a file in memory. */
import { randomBytes } from "node:crypto"

/** Random block that every file repeats. Its odd size makes misplaced parts detectable. */
const block = randomBytes(1024 ** 2 + 7)

/** Returns bytes up to the end of the block, at most `wanted`. */
const bytesAt = (position: number, wanted: number): Buffer => {
  const start = position % block.length
  return block.subarray(start, Math.min(block.length, start + wanted))
}

const pieceBytes = 256 * 1024

/** Yields the bytes `from` up to `to` of a file. */
export function* generateChunks(from: number, to: number): Generator<Buffer> {
  for (let position = from; position < to; ) {
    const piece = bytesAt(position, Math.min(to - position, pieceBytes))
    position += piece.length
    yield piece
  }
}

/** Reads a stream and throws unless it is the file of this size. */
export const compare = async (content: AsyncIterable<Buffer>, size: number): Promise<void> => {
  let position = 0
  for await (const chunk of content) {
    for (let at = 0; at < chunk.length; ) {
      const expected = bytesAt(position, chunk.length - at)
      if (expected.compare(chunk, at, at + expected.length) !== 0)
        throw new Error(`The content differs near byte ${position}`)
      at += expected.length
      position += expected.length
    }
  }
  if (position !== size) throw new Error(`Received ${position} of ${size} bytes`)
}
