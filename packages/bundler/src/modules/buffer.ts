/** `node:buffer`: the implementation of the package `buffer`, with the members that Node has added since. */
import { Buffer as Base, INSPECT_MAX_BYTES, kMaxLength, SlowBuffer } from "buffer/index.js"
import { refuse } from "./refuse.ts"

type Convert = (...given: ReadonlyArray<unknown>) => unknown

const isUrl = (encoding: unknown): boolean => typeof encoding === "string" && encoding.toLowerCase() === "base64url"

/** Replaces a method by one that also knows the encoding `base64url`, at this position of its arguments. */
const withUrl = (target: object, name: string, adapt: (original: Convert) => Convert): void => {
  const original: unknown = Reflect.get(target, name)
  if (typeof original !== "function") return
  const adapted = adapt((...given) => Reflect.apply(original, given[0], given.slice(1)))
  Object.defineProperty(target, name, {
    value: function (this: unknown, ...given: ReadonlyArray<unknown>) {
      return adapted(this, ...given)
    },
    writable: true,
    configurable: true
  })
}

const toBase64 = (encoding: unknown): unknown => (isUrl(encoding) ? "base64" : encoding)

/** The decoder of base64 in `buffer` already accepts both alphabets. */
for (const [target, name] of [
  [Base, "from"],
  [Base, "byteLength"],
  [Base, "alloc"],
  [Base.prototype, "write"],
  [Base.prototype, "fill"],
  [Base.prototype, "indexOf"],
  [Base.prototype, "lastIndexOf"],
  [Base.prototype, "includes"]
] as const) {
  withUrl(
    target,
    name,
    (original) =>
      (self, ...given) =>
        original(self, ...given.map(toBase64))
  )
}

withUrl(Base, "isEncoding", (original) => (self, encoding) => isUrl(encoding) || original(self, encoding))

withUrl(Base.prototype, "toString", (original) => (self, encoding, ...range) => {
  if (!isUrl(encoding)) return original(self, encoding, ...range)
  return String(original(self, "base64", ...range))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=+$/, "")
})

const slicers = ["utf8", "latin1", "ascii", "hex", "base64", "ucs2"] as const
for (const encoding of slicers) {
  Object.defineProperty(Base.prototype, `${encoding}Slice`, {
    value: function (this: Base, start?: number, end?: number) {
      return this.toString(encoding, start, end)
    },
    configurable: true,
    writable: true
  })
  Object.defineProperty(Base.prototype, `${encoding}Write`, {
    value: function (this: Base, text: string, offset: number = 0, length: number = this.length - offset) {
      return this.write(text, offset, length, encoding)
    },
    configurable: true,
    writable: true
  })
}

// The iterators of typed arrays lose the prototype of buffers.
Object.defineProperty(Base, "copyBytesFrom", {
  value: (view: NodeJS.TypedArray, offset: number = 0, length?: number) => {
    const part = view.subarray(offset, length === undefined ? undefined : offset + length)
    return Base.from(new Uint8Array(part.buffer, part.byteOffset, part.byteLength))
  },
  configurable: true,
  writable: true
})
Object.defineProperty(Base, "poolSize", { value: 8192, configurable: true, writable: true })

const { Blob, File, atob, btoa } = globalThis

const isUtf8 = (input: ArrayBuffer | NodeJS.TypedArray): boolean => {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(input)
    return true
  } catch {
    return false
  }
}

const isAscii = (input: ArrayBuffer | NodeJS.TypedArray): boolean =>
  Base.from(new Uint8Array(toBytes(input))).every((byte) => byte < 128)

const toBytes = (input: ArrayBuffer | NodeJS.TypedArray): Uint8Array =>
  input instanceof ArrayBuffer
    ? new Uint8Array(input)
    : new Uint8Array(input.buffer, input.byteOffset, input.byteLength)

const transcode = (source: Uint8Array, from: BufferEncoding, to: BufferEncoding) =>
  Base.from(Base.from(source).toString(from), to)

const resolveObjectURL = refuse("buffer.resolveObjectURL")
const kStringMaxLength = 2 ** 29 - 24
const constants = { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: kStringMaxLength }

export {
  atob,
  Base as Buffer,
  Blob,
  btoa,
  constants,
  File,
  INSPECT_MAX_BYTES,
  isAscii,
  isUtf8,
  kMaxLength,
  kStringMaxLength,
  resolveObjectURL,
  SlowBuffer,
  transcode
}

export default {
  atob,
  Blob,
  btoa,
  Buffer: Base,
  constants,
  File,
  INSPECT_MAX_BYTES,
  isAscii,
  isUtf8,
  kMaxLength,
  kStringMaxLength,
  resolveObjectURL,
  SlowBuffer,
  transcode
}
