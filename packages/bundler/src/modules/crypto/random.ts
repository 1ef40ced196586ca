/** Random values of `node:crypto`. */
import { Buffer } from "node:buffer"

type Done<A> = (error: Error | null, value?: A) => void

/** Maximum bytes of one call of `getRandomValues`. */
const bytesMax = 65_536

const fill = (bytes: Uint8Array): void => {
  for (let at = 0; at < bytes.length; at += bytesMax) crypto.getRandomValues(bytes.subarray(at, at + bytesMax))
}

export const randomBytes = (size: number, done?: Done<Buffer>): Buffer | undefined => {
  const bytes = Buffer.alloc(size)
  fill(bytes)
  if (done === undefined) return bytes
  queueMicrotask(() => done(null, bytes))
}

export const pseudoRandomBytes = randomBytes

export const randomFillSync = <A extends ArrayBuffer | NodeJS.ArrayBufferView>(
  target: A,
  offset = 0,
  size?: number
): A => {
  const view =
    target instanceof ArrayBuffer
      ? new Uint8Array(target)
      : new Uint8Array(target.buffer, target.byteOffset, target.byteLength)
  fill(view.subarray(offset, size === undefined ? undefined : offset + size))
  return target
}

export const randomFill = <A extends ArrayBuffer | NodeJS.ArrayBufferView>(
  target: A,
  ...rest: ReadonlyArray<number | Done<A>>
): void => {
  const numbers = rest.filter((each) => typeof each === "number")
  const done = rest.find((each) => typeof each === "function")
  randomFillSync(target, ...numbers)
  queueMicrotask(() => done?.(null, target))
}

/** Returns a uniform integer from `min` to `max - 1`. */
export const randomInt = (...given: ReadonlyArray<number | Done<number>>): number | undefined => {
  const [first = 0, second] = given.filter((each) => typeof each === "number")
  const done = given.find((each) => typeof each === "function")
  const [min, max] = second === undefined ? [0, first] : [first, second]
  const range = max - min
  if (!(range > 0 && range < 2 ** 48)) {
    throw Object.assign(new RangeError(`The value of "max" is out of range (got ${max})`), { code: "ERR_OUT_OF_RANGE" })
  }
  const limit = 2 ** 48 - (2 ** 48 % range)
  let value = limit
  while (value >= limit) {
    const bytes = crypto.getRandomValues(new Uint8Array(6))
    value = bytes.reduce((sum, byte) => sum * 256 + byte, 0)
  }
  const result = min + (value % range)
  if (done === undefined) return result
  queueMicrotask(() => done(null, result))
}

export const randomUUID = (): string => crypto.randomUUID()

export const randomUUIDv7 = (): string => {
  const bytes = Buffer.alloc(16)
  fill(bytes)
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}

export const timingSafeEqual = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.byteLength !== b.byteLength) {
    throw Object.assign(new RangeError("Input buffers must have the same byte length"), {
      code: "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH"
    })
  }
  const [left, right] = [a, b].map((view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength))
  let difference = 0
  for (let at = 0; at < a.byteLength; at++) difference |= (left?.[at] ?? 0) ^ (right?.[at] ?? 0)
  return difference === 0
}
