/**
 * Event streams as gzip (RFC 1952), without a compressor per connection.
 *
 * Each chunk is compressed alone, as complete blocks, so that it is sent without delay. Subscribers that receive the same
 * chunk share its blocks. Only the checksum at the end belongs to the connection.
 */
import { constants, crc32, deflateRawSync } from "node:zlib"

const header = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)

/** An empty last block. */
const lastBlock = Uint8Array.of(3, 0)

/** A small window and table: chunks have at most 64 KiB. */
const options = { level: 4, windowBits: 13, memLevel: 6, finishFlush: constants.Z_FULL_FLUSH }

const compressed = new WeakMap<Uint8Array, Uint8Array>()

/** Smaller chunks are stored: compressed alone they would not be shorter. In bytes. */
const compressedMin = 512

const toBlocks = (chunk: Uint8Array): Uint8Array => {
  const known = compressed.get(chunk)
  if (known !== undefined) return known
  const blocks = chunk.length < compressedMin ? store(chunk) : deflateRawSync(chunk, options)
  compressed.set(chunk, blocks)
  return blocks
}

/** Returns a stored block: its length, twice, and the bytes. */
const store = (chunk: Uint8Array): Uint8Array => {
  const { length } = chunk
  return Buffer.concat([Uint8Array.of(0, length & 0xff, length >> 8, ~length & 0xff, (~length >> 8) & 0xff), chunk])
}

/** The gzip stream of one connection. */
export class GzipFrames {
  #checksum = 0
  #length = 0

  /** Returns the bytes of the first chunk, with the header. */
  begin(chunk: Uint8Array): Uint8Array {
    return Buffer.concat([header, this.add(chunk)])
  }

  add(chunk: Uint8Array): Uint8Array {
    this.#checksum = crc32(chunk, this.#checksum)
    this.#length = (this.#length + chunk.length) >>> 0
    return toBlocks(chunk)
  }

  /** Returns the end of the stream. */
  end(): Uint8Array {
    const trailer = Buffer.alloc(8)
    trailer.writeUInt32LE(this.#checksum, 0)
    trailer.writeUInt32LE(this.#length, 4)
    return Buffer.concat([lastBlock, trailer])
  }
}
