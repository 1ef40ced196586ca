/**
 * The body of a request or response.
 *
 * Bodies from text or bytes stay bytes. A stream is created only at the first access to `body`, so most programs never
 * load the streams.
 */

import type { Blob } from "./blob.ts"
import { bytesOf, concat, copyBytes, isBufferSource } from "./bytes.ts"
import type { FormData } from "./form-data.ts"
import type { Headers } from "./headers.ts"
import type { MimeType } from "./mime.ts"
import { modules } from "./modules.ts"
import type { ReadableStream } from "./streams.ts"
import type { URLSearchParams } from "./url/search-params.ts"
import { decode, encode } from "./utf8.ts"

export type BodyInit = string | ArrayBufferLike | ArrayBufferView | Blob | FormData | URLSearchParams | ReadableStream

/** A body that arrives from the host. Only one read may be in progress. */
export interface Source {
  /** Reads a chunk; null at the end. */
  readonly read: () => Promise<Uint8Array | null>
  /** Reads a chunk into `bytes` from `start`, as far as it fits. Returns the number of bytes read; null at the end. */
  readonly readInto: (bytes: Uint8Array, start: number) => Promise<number | null>
  /** Reads a chunk as text, decoded as UTF-8; null at the end. A body is read either as bytes or as text. */
  readonly readText: () => Promise<string | null>
  /** Declared size in bytes, or null. */
  readonly size: number | null
  readonly cancel: () => void
}

interface Content {
  /** Null when a stream has replaced them. */
  bytes: Uint8Array | null
  /** Null when a stream has replaced it, and for bodies that do not come from the host. */
  source: Source | null
  stream: ReadableStream<Uint8Array> | null
  used: boolean
}

interface Extracted {
  readonly content: Content
  /** Default of Content-Type. */
  readonly type: string | null
}

const fromBytes = (bytes: Uint8Array, type: string | null): Extracted => ({
  content: { bytes, source: null, stream: null, used: false },
  type
})

const extract = (init: unknown): Extracted => {
  if (isBufferSource(init)) {
    return fromBytes(copyBytes(init), null)
  }
  if (typeof init !== "object" || init === null) {
    return fromBytes(encode(String(init)), "text/plain;charset=UTF-8")
  }
  const { Blob, blobBytes } = modules.blob()
  if (init instanceof Blob) {
    return fromBytes(blobBytes(init), init.type === "" ? null : init.type)
  }
  if (init instanceof modules.searchParams().URLSearchParams) {
    return fromBytes(encode(init.toString()), "application/x-www-form-urlencoded;charset=UTF-8")
  }
  if (init instanceof modules.formData().FormData) {
    const { bytes, type } = modules.multipart().writeMultipart(init)
    return fromBytes(bytes, type)
  }
  const { ReadableStream, isDisturbed } = modules.streams()
  if (init instanceof ReadableStream) {
    if (init.locked || isDisturbed(init)) {
      throw new TypeError("Response body object should not be disturbed or locked")
    }
    return { content: { bytes: null, source: null, stream: init, used: false }, type: null }
  }
  return fromBytes(encode(String(init)), "text/plain;charset=UTF-8")
}

const mimeOf = (headers: Headers): MimeType | null => {
  const header = headers.get("content-type")
  return header === null ? null : modules.mime().extractMimeType(header)
}

const blobType = (headers: Headers): string => {
  const type = mimeOf(headers)
  return type === null ? "" : modules.mime().writeMimeType(type)
}

let receive: (body: Body, source: Source) => void
let release: (body: Body) => Uint8Array | ReadableStream<unknown> | null

/** Base class of `Request` and `Response`. */
export abstract class Body {
  #content: Content | null = null

  static {
    receive = (body, source) => {
      body.#content = { bytes: null, source, stream: null, used: false }
    }
    release = (body) => {
      body.#requireUsable()
      const content = body.#content
      if (content === null) {
        return null
      }
      const given = content.bytes ?? body.body
      content.used = true
      return given
    }
  }

  abstract get headers(): Headers

  get body(): ReadableStream<Uint8Array> | null {
    const content = this.#content
    if (content === null) {
      return null
    }
    if (content.stream === null) {
      const { ReadableStream, streamFrom, createStream } = modules.streams()
      content.stream = content.used
        ? usedStream(ReadableStream)
        : content.source === null
          ? createStream(content.bytes ?? new Uint8Array())
          : streamFrom(content.source)
      content.bytes = null
      content.source = null
    }
    return content.stream
  }

  get bodyUsed(): boolean {
    const content = this.#content
    return (
      content !== null && (content.used || (content.stream !== null && modules.streams().isDisturbed(content.stream)))
    )
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    const content = this.#content
    const isOurs = content !== null && (content.stream !== null || content.source !== null)
    const bytes = await this.#consume()
    // Bytes from the host were assembled for this call; other bytes may be shared with clones.
    return isOurs && bytes.buffer instanceof ArrayBuffer ? new Uint8Array(bytes.buffer) : copyBytes(bytes)
  }

  async text(): Promise<string> {
    const source = this.#content?.source ?? null
    if (source !== null && !this.bodyUsed) {
      this.#content = { bytes: null, source: null, stream: null, used: true }
      return drainText(source)
    }
    return decode(await this.#consume()).replace(/^\ufeff/, "")
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }

  async blob(): Promise<Blob> {
    const bytes = await this.#consume()
    return modules.blob().createBlob(bytes.slice(), blobType(this.headers))
  }

  async formData(): Promise<FormData> {
    const type = this.headers.get("content-type") ?? ""
    const essence = mimeOf(this.headers)?.essence
    const bytes = await this.#consume()
    if (essence !== "multipart/form-data" && essence !== "application/x-www-form-urlencoded") {
      throw new TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".')
    }
    if (essence === "multipart/form-data") {
      const form = modules.multipart().parseMultipart(bytes, type)
      if (form === null) {
        throw new TypeError("Failed to parse body as FormData.")
      }
      return form
    }
    const form = new (modules.formData().FormData)()
    for (const [name, value] of modules.searchParams().parseForm(decode(bytes))) {
      form.append(name, value)
    }
    return form
  }

  /** Sets the body from a constructor's argument, and the matching Content-Type. */
  protected setBody(init: unknown): void {
    const { content, type } = extract(init)
    this.#content = content
    if (type !== null && !this.headers.has("content-type")) {
      this.headers.append("content-type", type)
    }
  }

  /** Moves the body of `source` to this object; `source` is used afterwards. */
  protected takeBody(source: Body): void {
    const content = source.#content
    source.#requireUsable()
    if (content !== null) {
      this.#content = { ...content }
      source.#content = { bytes: null, source: null, stream: null, used: true }
    }
  }

  /** Shares this body with a clone. */
  protected shareBody(clone: Body): void {
    this.#requireUsable()
    const content = this.#content
    if (content === null) {
      return
    }
    if (content.stream === null && content.source === null) {
      clone.#content = { ...content }
      return
    }
    const [mine, its] = this.body?.tee() ?? [null, null]
    content.stream = mine
    clone.#content = { bytes: null, source: null, stream: its, used: false }
  }

  protected get hasBody(): boolean {
    return this.#content !== null
  }

  #requireUsable(): void {
    if (this.bodyUsed || this.#content?.stream?.locked === true) {
      throw new TypeError("Body is unusable: Body has already been read")
    }
  }

  async #consume(): Promise<Uint8Array> {
    this.#requireUsable()
    const content = this.#content
    if (content === null) {
      return new Uint8Array()
    }
    content.used = true
    if (content.stream !== null) {
      return modules.streams().readAll(content.stream)
    }
    const { bytes, source } = content
    content.bytes = null
    if (source !== null) {
      return drain(source)
    }
    return bytesOf(bytes ?? new Uint8Array())
  }
}

export { receive, release }

/** Reads the whole source. Buffers are limited: if the size is known, it uses one buffer and does not join chunks. */
export const drain = async (source: Source): Promise<Uint8Array> => {
  if (source.size === null) {
    const chunks: Array<Uint8Array> = []
    for (let chunk = await source.read(); chunk !== null; chunk = await source.read()) {
      chunks.push(chunk)
    }
    return concat(chunks)
  }
  const bytes = new Uint8Array(source.size)
  let length = 0
  for (let count = await source.readInto(bytes, 0); count !== null; count = await source.readInto(bytes, length)) {
    length += count
  }
  return length === bytes.length ? bytes : bytes.slice(0, length)
}

export const drainText = async (source: Source): Promise<string> => {
  let text = ""
  for (let chunk = await source.readText(); chunk !== null; chunk = await source.readText()) {
    text += chunk
  }
  return text
}

/** Returns the `body` of a used object: a closed and locked stream. */
const usedStream = (Stream: typeof ReadableStream): ReadableStream<Uint8Array> => {
  const stream = new Stream<Uint8Array>({ start: (controller) => controller.close() })
  stream.getReader()
  return stream
}
