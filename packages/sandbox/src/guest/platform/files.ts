/** `svc.files` and `svc.asset`: access to stored files from a run. */
import type { HostCaller } from "../Bridge.ts"
import { encodeBytes } from "./base64.ts"
import type { Blob } from "./blob.ts"
import { drain, drainText } from "./body.ts"
import { type BufferSource, bytesOf, isBufferSource } from "./bytes.ts"
import { brand, inspectCustom } from "./define.ts"
import { freshId, HostSource, payloadCapacity, type ReadResult, writeBody } from "./host-bytes.ts"
import { modules } from "./modules.ts"
import type { ReadableStream } from "./streams.ts"
import { encode } from "./utf8.ts"

/** Description of a file or an asset by the host. An asset has only these fields. */
interface FileInfo {
  readonly size: number
  readonly content_type: string
  readonly etag: string
  readonly [name: string]: unknown
}

/** Reads stored bytes from the host on demand. Each reader has its own source. */
class StoredSource extends HostSource {
  readonly size: number
  readonly #call: HostCaller
  readonly #id = freshId()
  /** The host call that opens the content, and its payload without the fields of every read. */
  readonly #open: readonly [op: string, payload: string]
  #isOpen = false
  #isClosed = false

  constructor(call: HostCaller, size: number, open: readonly [string, string]) {
    super()
    this.#call = call
    this.size = size
    this.#open = open
  }

  protected async take(max: number, text: boolean): Promise<string | null> {
    while (!this.#isClosed) {
      const [op, payload] = this.#isOpen ? ["content.read", ""] : this.#open
      this.#isOpen = true
      const result = this.#call(op, `{${payload}"id":${this.#id},"max":${max},"text":${text}}`)
      const { bytes, done }: ReadResult = JSON.parse(await this.#closeOnError(result))
      this.#isClosed = done
      // Text may be empty while a character is incomplete.
      if (bytes !== "") {
        return bytes
      }
    }
    return null
  }

  /** Cancels the rest. */
  cancel(): void {
    if (this.#isOpen && !this.#isClosed) {
      this.#isClosed = true
      this.#call("content.cancel", `{"id":${this.#id}}`).catch(() => undefined)
    }
  }

  async #closeOnError(result: Promise<string>): Promise<string> {
    try {
      return await result
    } catch (error) {
      this.#isClosed = true
      throw error
    }
  }
}

/** An existing file or asset. Each method reads it from the beginning. */
export class StoredContent {
  declare readonly size: number
  declare readonly content_type: string
  declare readonly etag: string
  readonly #source: () => StoredSource

  constructor(call: HostCaller, info: FileInfo, open: readonly [string, string]) {
    Object.assign(this, info)
    this.#source = () => new StoredSource(call, info.size, open)
  }

  bytes(): Promise<Uint8Array> {
    return drain(this.#source())
  }

  /** Decodes it as UTF-8. */
  text(): Promise<string> {
    return drainText(this.#source())
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }

  stream(): ReadableStream<Uint8Array> {
    return modules.streams().streamFrom(this.#source())
  }

  [inspectCustom](): string {
    return `StoredContent ${modules.inspect().inspect({ ...this })}`
  }
}

export interface PutOptions {
  readonly content_type?: string
}

/** Maximum page of a list that the host returns. */
const pageMax = 100

export class Files {
  readonly #call: HostCaller

  constructor(call: HostCaller) {
    this.#call = call
  }

  /** Stores a file; replaces an existing one at the path. */
  async put(
    path: string,
    data: string | BufferSource | Blob | ReadableStream<unknown>,
    options: PutOptions = {}
  ): Promise<unknown> {
    const { body, type } = toContent(data)
    const content_type = options?.content_type ?? type
    const head = JSON.stringify({
      path: requireString(path, "path"),
      content_type: requireString(content_type, "content_type")
    })
    // A character takes at most three bytes. The head is sent only together with whole bodies.
    const isWhole = body instanceof Uint8Array && body.length <= payloadCapacity(head.length * 3)
    return isWhole
      ? JSON.parse(await this.#call("files.put", `${head.slice(0, -1)},"bytes":"${encodeBytes(body)}"}`))
      : this.#write(head.slice(0, -1), body)
  }

  /** Returns a file, or null if it does not exist. */
  async get(path: string): Promise<StoredContent | null> {
    const payload = JSON.stringify({ path: requireString(path, "path") })
    const info: FileInfo | null = JSON.parse(await this.#call("files.get", payload))
    return info === null
      ? null
      : new StoredContent(this.#call, info, [
          "files.open",
          `${payload.slice(1, -1)},"etag":${JSON.stringify(info.etag)},`
        ])
  }

  /** Returns the files whose paths begin with `prefix`, by path; with `limit`, at most that many after `offset`. */
  async list(
    prefix: string = "",
    options: { readonly limit?: number; readonly offset?: number } = {}
  ): Promise<unknown> {
    const { limit = Number.POSITIVE_INFINITY, offset = 0 } = options ?? {}
    const found: Array<unknown> = []
    while (found.length < limit) {
      const page = {
        prefix: requireString(prefix, "prefix"),
        limit: Math.min(pageMax, limit - found.length),
        offset: offset + found.length
      }
      const { items }: { readonly items: ReadonlyArray<unknown> } = JSON.parse(
        await this.#call("files.list", JSON.stringify(page))
      )
      found.push(...items)
      if (items.length < page.limit) {
        break
      }
    }
    return found
  }

  /** Deletes a file; true if it existed. */
  async delete(path: string): Promise<boolean> {
    return (await this.#call("files.delete", JSON.stringify({ path: requireString(path, "path") }))) === "true"
  }

  /** Returns a public link to download the file. It is valid for `expires_in` seconds, one hour by default. */
  async url(path: string, options: { readonly expires_in?: number } = {}): Promise<string> {
    const { expires_in } = options ?? {}
    return JSON.parse(await this.#call("files.url", JSON.stringify({ path: requireString(path, "path"), expires_in })))
  }

  async #write(head: string, body: Uint8Array | ReadableStream<unknown>): Promise<unknown> {
    const id = freshId()
    const capacity = payloadCapacity(0)
    if (capacity <= 0) {
      throw new RangeError("The host's limit of a host call is too small for a file")
    }
    const length = body instanceof Uint8Array ? body.length : null
    let stored = "null"
    try {
      await this.#call("files.begin", `${head},"id":${id},"length":${length}}`)
      await writeBody(
        body,
        capacity,
        async (base64, done) => {
          stored = await this.#call("files.write", `{"id":${id},"bytes":"${base64}","done":${done}}`)
          return true
        },
        () => new TypeError("A chunk of the stream is not a Uint8Array")
      )
    } catch (error) {
      this.#call("files.cancel", `{"id":${id}}`).catch(() => undefined)
      throw error
    }
    return JSON.parse(stored)
  }
}

/** Returns a file of the build's zip, or null if the name does not exist. */
export const asset = async (call: HostCaller, name: unknown): Promise<StoredContent | null> => {
  const payload = JSON.stringify({ name: requireString(name, "name") })
  const info: FileInfo | null = JSON.parse(await call("asset.get", payload))
  return info === null ? null : new StoredContent(call, info, ["asset.open", `${payload.slice(1, -1)},`])
}

const requireString = (value: unknown, name: string): string => {
  if (typeof value !== "string") {
    throw new TypeError(`${name} must be a string`)
  }
  return value
}

const toContent = (data: unknown): { readonly body: Uint8Array | ReadableStream<unknown>; readonly type: string } => {
  if (typeof data === "string") {
    return { body: encode(data), type: "text/plain; charset=utf-8" }
  }
  if (isBufferSource(data)) {
    return { body: bytesOf(data), type: unknownType }
  }
  const { Blob, blobBytes } = modules.blob()
  if (data instanceof Blob) {
    return { body: blobBytes(data), type: data.type === "" ? unknownType : data.type }
  }
  if (data instanceof modules.streams().ReadableStream) {
    return { body: data, type: unknownType }
  }
  throw new TypeError("The data of a file must be a string, a buffer, a Blob or a ReadableStream")
}

const unknownType = "application/octet-stream"

brand({ Files, StoredContent })
