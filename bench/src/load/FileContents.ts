/** Contents that are made up and compared on their way, so that no end of a measurement holds a file. */
import { randomBytes } from "node:crypto"

/** What every file consists of, over and over: no part of it may be taken for another. */
const block = randomBytes(1024 ** 2 + 7)

/** Up to the end of the block or the number wanted. */
const bytesAt = (position: number, wanted: number): Buffer => {
  const start = position % block.length
  return block.subarray(start, Math.min(block.length, start + wanted))
}

const pieceBytes = 256 * 1024

/** Bytes `from` up to `to` of a file. */
export function* piecesOf(from: number, to: number): Generator<Buffer> {
  for (let position = from; position < to; ) {
    const piece = bytesAt(position, Math.min(to - position, pieceBytes))
    position += piece.length
    yield piece
  }
}

/** Reads all of it, and fails when it is not a file of this size. */
export const compare = async (content: AsyncIterable<Buffer>, size: number): Promise<void> => {
  let position = 0
  for await (const chunk of content) {
    for (let at = 0; at < chunk.length; ) {
      const expected = bytesAt(position, chunk.length - at)
      if (expected.compare(chunk, at, at + expected.length) !== 0) throw new Error(`Another byte near ${position}`)
      at += expected.length
      position += expected.length
    }
  }
  if (position !== size) throw new Error(`${position} bytes came of ${size}`)
}
