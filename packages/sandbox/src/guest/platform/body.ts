/**
 * The body of a request or response.
 *
 * Bodies given as text or bytes stay bytes: a stream is made of them only when
 * `body` is asked for, so most programs never load the streams.
 */

import type { Blob } from "./blob.ts"
import { bytesOf, concat, copyOf, isBufferSource } from "./bytes.ts"
import type { FormData } from "./form-data.ts"
import type { Headers } from "./headers.ts"
import { modules } from "./modules.ts"
import type { ReadableStream } from "./streams.ts"
import type { URLSearchParams } from "./url/search-params.ts"
import { decode, encode } from "./utf8.ts"

export type BodyInit = string | ArrayBufferLike | ArrayBufferView | Blob | FormData | URLSearchParams | ReadableStream

/** A body that comes in from elsewhere. Nobody reads while another read goes on. */
export interface Source {
  /** Null at the end. */
  readonly read: () => Promise<Uint8Array | null>
  /** The same, into `bytes` from `start` on, as far as there is room. Gives their number. */
  readonly readInto: (bytes: Uint8Array, start: number) => Promise<number | null>
  /** The same as text, decoded as UTF-8 from the first call on; a body is read either as bytes or as text. */
  readonly readText: () => Promise<string | null>
  /** How many bytes it says that it has; null where it does not. */
  readonly size: number | null
  readonly cancel: () => void
}

interface Content {
  /** Null once the stream made of them is the body. */
  bytes: Uint8Array | null
  /** Null in the same case, and for bodies that did not come in. */
  source: Source | null
  stream: ReadableStream<Uint8Array> | null
  used: boolean
}

interface Extracted {
  readonly content: Content
  /** What Content-Type says unless it is set. */
  readonly type: string | null
}

const ofBytes = (bytes: Uint8Array, type: string | null): Extracted => ({
  content: { bytes, source: null, stream: null, used: false },
  type
})

const extract = (init: unknown): Extracted => {
  if (isBufferSource(init)) {
    return ofBytes(copyOf(init), null)
  }
  if (typeof init !== "object" || init === null) {
    return ofBytes(encode(String(init)), "text/plain;charset=UTF-8")
  }
  const { Blob, blobBytes } = modules.blob()
  if (init instanceof Blob) {
    return ofBytes(blobBytes(init), init.type === "" ? null : init.type)
  }
  if (init instanceof modules.searchParams().URLSearchParams) {
    return ofBytes(encode(init.toString()), "application/x-www-form-urlencoded;charset=UTF-8")
  }
  if (init instanceof modules.formData().FormData) {
    const { bytes, type } = modules.multipart().writeMultipart(init)
    return ofBytes(bytes, type)
  }
  const { ReadableStream, isDisturbed } = modules.streams()
  if (init instanceof ReadableStream) {
    if (init.locked || isDisturbed(init)) {
      throw new TypeError("Response body object should not be disturbed or locked")
    }
    return { content: { bytes: null, source: null, stream: init, used: false }, type: null }
  }
  return ofBytes(encode(String(init)), "text/plain;charset=UTF-8")
}

const essenceOf = (type: string): string => (type.split(";")[0] ?? "").trim().toLowerCase()

let receive: (body: Body, source: Source) => void
let release: (body: Body) => Uint8Array | ReadableStream<unknown> | null

/** What `Request` and `Response` have in common. */
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
      const { ReadableStream, streamFrom, streamOf } = modules.streams()
      content.stream = content.used
        ? usedStream(ReadableStream)
        : content.source === null
          ? streamOf(content.bytes ?? new Uint8Array())
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
    // What came in was put together for this call; other bytes may be shared with clones.
    return isOurs && bytes.buffer instanceof ArrayBuffer ? new Uint8Array(bytes.buffer) : copyOf(bytes)
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
    return modules.blob().blobOf(bytes.slice(), this.headers.get("content-type") ?? "")
  }

  async formData(): Promise<FormData> {
    const type = this.headers.get("content-type") ?? ""
    const essence = essenceOf(type)
    if (essence !== "multipart/form-data" && essence !== "application/x-www-form-urlencoded") {
      throw new TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".')
    }
    const bytes = await this.#consume()
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

  /** Sets the body from what a constructor was given, and the Content-Type that goes with it. */
  protected setBody(init: unknown): void {
    const { content, type } = extract(init)
    this.#content = content
    if (type !== null && !this.headers.has("content-type")) {
      this.headers.append("content-type", type)
    }
  }

  /** Takes the body of `source`, which is used up by it. */
  protected takeBody(source: Body): void {
    const content = source.#content
    source.#requireUsable()
    if (content !== null) {
      this.#content = { ...content }
      source.#content = { bytes: null, source: null, stream: null, used: true }
    }
  }

  /** Gives this body to a clone as well. */
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

/** Buffers are scarce: where the size is known there is one, and no second one to put chunks together in. */
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

/** What `body` is after it was read: closed and locked. */
const usedStream = (Stream: typeof ReadableStream): ReadableStream<Uint8Array> => {
  const stream = new Stream<Uint8Array>({ start: (controller) => controller.close() })
  stream.getReader()
  return stream
}
