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

/** Compares in constant time: the duration does not depend on the position of the first difference. */
export const equalConstantTime = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) {
    return false
  }
  let difference = 0
  for (let index = 0; index < a.length; index++) {
    difference |= (a[index] ?? 0) ^ (b[index] ?? 0)
  }
  return difference === 0
}
