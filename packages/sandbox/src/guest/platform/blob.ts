/** `Blob` and `File`. */
import { type BufferSource, bytesOf, concat, isBufferSource } from "./bytes.ts"
import { brand, inspectCustom, requireArguments, requireOptions } from "./define.ts"
import { modules } from "./modules.ts"
import type { ReadableStream } from "./streams.ts"
import { decode, encode } from "./utf8.ts"

export type BlobPart = BufferSource | Blob | string

export interface BlobOptions {
  readonly type?: string
  readonly endings?: "transparent" | "native"
}

const normalizeType = (type: unknown): string => {
  const text = type === undefined ? "" : String(type)
  return /^[\x20-\x7e]*$/.test(text) ? text.toLowerCase() : ""
}

const partBytes = (part: unknown, endings: unknown): Uint8Array => {
  if (part instanceof Blob) {
    return blobBytes(part)
  }
  if (isBufferSource(part)) {
    return bytesOf(part)
  }
  const text = String(part)
  return encode(endings === "native" ? text.replace(/\r\n?|\n/g, "\n") : text)
}

/** Returns the bytes of a blob, not copied: they must not be changed. */
let blobBytes: (blob: Blob) => Uint8Array
let createBlob: (bytes: Uint8Array, type: string) => Blob

export class Blob {
  #bytes: Uint8Array
  #type: string

  static {
    blobBytes = (blob) => blob.#bytes
    createBlob = (bytes, type) => {
      const blob = new Blob()
      blob.#bytes = bytes
      blob.#type = type
      return blob
    }
  }

  constructor(parts: Iterable<BlobPart> = [], options: BlobOptions = {}) {
    if ((typeof parts !== "object" && typeof parts !== "function") || parts === null || !(Symbol.iterator in parts)) {
      throw new TypeError("Blob constructor: the parts must be an iterable object.")
    }
    requireOptions(options, "Blob")
    const given: unknown = options?.endings
    const endings = given === undefined ? "transparent" : `${given}`
    if (endings !== "transparent" && endings !== "native") {
      throw new TypeError("Blob constructor: endings must be 'transparent' or 'native'.")
    }
    this.#bytes = concat(Array.from(parts, (part) => partBytes(part, endings)))
    this.#type = normalizeType(options?.type)
  }

  get size(): number {
    return this.#bytes.length
  }
  get type(): string {
    return this.#type
  }

  /** Returns the bytes from `start` to `end`; negative positions count from the end. The result shares the memory. */
  slice(start: number = 0, end: number = this.size, type: string | undefined = undefined): Blob {
    return createBlob(this.#bytes.subarray(position(start, this.size), position(end, this.size)), normalizeType(type))
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return new Uint8Array(this.#bytes).buffer
  }
  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(this.#bytes)
  }
  async text(): Promise<string> {
    return decode(this.#bytes).replace(/^\ufeff/, "")
  }
  stream(): ReadableStream<Uint8Array> {
    return modules.streams().createStream(this.#bytes)
  }

  [inspectCustom](): string {
    return `Blob ${modules.inspect().inspect({ size: this.size, type: this.type })}`
  }
}

/** Converts a number to a position in `size` bytes: clamped to the range, and halves rounded to even. */
const position = (value: number, size: number): number => {
  const number = Number(value) || 0
  const floor = Math.floor(number)
  const whole = number - floor === 0.5 ? floor + (Math.abs(floor) % 2) : Math.round(number)
  return whole < 0 ? Math.max(size + whole, 0) : Math.min(whole, size)
}

export interface FileOptions extends BlobOptions {
  /** Milliseconds since 1970. */
  readonly lastModified?: number
}

export class File extends Blob {
  readonly #name: string
  readonly #lastModified: number

  constructor(parts: Iterable<BlobPart>, name: string, options: FileOptions = {}) {
    requireArguments(arguments, 2, "File")
    super(parts, options)
    this.#name = String(name).toWellFormed()
    this.#lastModified =
      options?.lastModified === undefined ? Date.now() : Math.trunc(Number(options.lastModified)) || 0
  }

  get name(): string {
    return this.#name
  }
  get lastModified(): number {
    return this.#lastModified
  }
  get webkitRelativePath(): string {
    return ""
  }

  override [inspectCustom](): string {
    const { name, size, type, lastModified } = this
    return `File ${modules.inspect().inspect({ name, size, type, lastModified })}`
  }
}

export const cloneBlob = (blob: Blob): Blob =>
  blob instanceof File
    ? new File([blob], blob.name, { type: blob.type, lastModified: blob.lastModified })
    : createBlob(blobBytes(blob), blob.type)

brand({ Blob, File })

export { blobBytes, createBlob }
