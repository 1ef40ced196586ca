/** Views over the binary inputs that the platform's APIs accept. */

export type BufferSource = ArrayBufferLike | ArrayBufferView

export const isBufferSource = (value: unknown): value is BufferSource =>
  ArrayBuffer.isView(value) || value instanceof ArrayBuffer || isShared(value)

// The kernel removes SharedArrayBuffer from the realm, so it cannot be named unguarded.
const isShared = (value: unknown): value is SharedArrayBuffer =>
  typeof SharedArrayBuffer !== "undefined" && value instanceof SharedArrayBuffer

/** Returns the bytes of `source`, not copied. */
export const bytesOf = (source: BufferSource): Uint8Array =>
  ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source)

/** Returns a copy of the bytes of `source` in a buffer of exactly their size. */
export const copyBytes = (source: BufferSource): Uint8Array<ArrayBuffer> => new Uint8Array(bytesOf(source))

export const concat = (parts: ReadonlyArray<Uint8Array>): Uint8Array<ArrayBuffer> => {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    joined.set(part, offset)
    offset += part.length
  }
  return joined
}
