/** `svc.files` and `svc.asset`: what is stored, as a run sees it. */
import type { HostCaller } from "../Bridge.ts"
import { encodeBytes } from "./base64.ts"
import type { Blob } from "./blob.ts"
import { drain, drainText } from "./body.ts"
import { type BufferSource, bytesOf, isBufferSource } from "./bytes.ts"
import { brand, inspectCustom } from "./define.ts"
import { freshId, HostSource, roomFor, type Taken, writeBody } from "./host-bytes.ts"
import { modules } from "./modules.ts"
import type { ReadableStream } from "./streams.ts"
import { encode } from "./utf8.ts"

/** What the host says of a file or an asset; an asset has no more than these. */
interface Facts {
  readonly size: number
  readonly content_type: string
  readonly etag: string
  readonly [name: string]: unknown
}

/** Bytes that come in from the host when they are asked for, anew for each reader. */
class StoredSource extends HostSource {
  readonly size: number
  readonly #call: HostCaller
  readonly #id = freshId()
  /** The host call that opens, and its payload but for what each reading call has. */
  readonly #open: readonly [op: string, payload: string]
  #isOpen = false
  #isOver = false

  constructor(call: HostCaller, size: number, open: readonly [string, string]) {
    super()
    this.#call = call
    this.size = size
    this.#open = open
  }

  protected async take(max: number, text: boolean): Promise<string | null> {
    while (!this.#isOver) {
      const [op, payload] = this.#isOpen ? ["content.read", ""] : this.#open
      this.#isOpen = true
      const answer = this.#call(op, `{${payload}"id":${this.#id},"max":${max},"text":${text}}`)
      const { bytes, done }: Taken = JSON.parse(await this.#orOver(answer))
      this.#isOver = done
      // Text may be empty where a character is not whole yet.
      if (bytes !== "") {
        return bytes
      }
    }
    return null
  }

  /** Nobody wants the rest. */
  cancel(): void {
    if (this.#isOpen && !this.#isOver) {
      this.#isOver = true
      this.#call("content.cancel", `{"id":${this.#id}}`).catch(() => undefined)
    }
  }

  async #orOver(answer: Promise<string>): Promise<string> {
    try {
      return await answer
    } catch (error) {
      this.#isOver = true
      throw error
    }
  }
}

/** A file or an asset that was looked up. Each of its methods reads it from the beginning. */
export class StoredContent {
  declare readonly size: number
  declare readonly content_type: string
  declare readonly etag: string
  readonly #source: () => StoredSource

  constructor(call: HostCaller, facts: Facts, open: readonly [string, string]) {
    Object.assign(this, facts)
    this.#source = () => new StoredSource(call, facts.size, open)
  }

  bytes(): Promise<Uint8Array> {
    return drain(this.#source())
  }

  /** As UTF-8. */
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

/** The largest page of a list that the host gives. */
const pageMax = 100

export class Files {
  readonly #call: HostCaller

  constructor(call: HostCaller) {
    this.#call = call
  }

  /** Stores a file, in place of the one at the path if there is one. */
  async put(
    path: string,
    data: string | BufferSource | Blob | ReadableStream<unknown>,
    options: PutOptions = {}
  ): Promise<unknown> {
    const { body, type } = contentOf(data)
    const content_type = options?.content_type ?? type
    const head = JSON.stringify({ path: textOf(path, "path"), content_type: textOf(content_type, "content_type") })
    // A character takes three bytes at most, and the head is sent with whole bodies only.
    const isWhole = body instanceof Uint8Array && body.length <= roomFor(head.length * 3)
    return isWhole
      ? JSON.parse(await this.#call("files.put", `${head.slice(0, -1)},"bytes":"${encodeBytes(body)}"}`))
      : this.#write(head.slice(0, -1), body)
  }

  /** Null when there is no such file. */
  async get(path: string): Promise<StoredContent | null> {
    const payload = JSON.stringify({ path: textOf(path, "path") })
    const facts: Facts | null = JSON.parse(await this.#call("files.get", payload))
    return facts === null
      ? null
      : new StoredContent(this.#call, facts, [
          "files.open",
          `${payload.slice(1, -1)},"etag":${JSON.stringify(facts.etag)},`
        ])
  }

  /** All files whose paths begin so, by path; or `limit` of them, after `offset`. */
  async list(
    prefix: string = "",
    options: { readonly limit?: number; readonly offset?: number } = {}
  ): Promise<unknown> {
    const { limit = Number.POSITIVE_INFINITY, offset = 0 } = options ?? {}
    const found: Array<unknown> = []
    while (found.length < limit) {
      const page = {
        prefix: textOf(prefix, "prefix"),
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

  /** Whether there was a file at the path. */
  async delete(path: string): Promise<boolean> {
    return (await this.#call("files.delete", JSON.stringify({ path: textOf(path, "path") }))) === "true"
  }

  /** A link by which anyone can download the file, for an hour unless `expires_in` says for how many seconds. */
  async url(path: string, options: { readonly expires_in?: number } = {}): Promise<string> {
    const { expires_in } = options ?? {}
    return JSON.parse(await this.#call("files.url", JSON.stringify({ path: textOf(path, "path"), expires_in })))
  }

  async #write(head: string, body: Uint8Array | ReadableStream<unknown>): Promise<unknown> {
    const id = freshId()
    const room = roomFor(0)
    if (room <= 0) {
      throw new RangeError("The host's limits leave no room for a file")
    }
    const length = body instanceof Uint8Array ? body.length : null
    let stored = "null"
    try {
      await this.#call("files.begin", `${head},"id":${id},"length":${length}}`)
      await writeBody(
        body,
        room,
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

/** A file of the build's zip; null when there is none of that name. */
export const asset = async (call: HostCaller, name: unknown): Promise<StoredContent | null> => {
  const payload = JSON.stringify({ name: textOf(name, "name") })
  const facts: Facts | null = JSON.parse(await call("asset.get", payload))
  return facts === null ? null : new StoredContent(call, facts, ["asset.open", `${payload.slice(1, -1)},`])
}

const textOf = (value: unknown, name: string): string => {
  if (typeof value !== "string") {
    throw new TypeError(`${name} must be a string`)
  }
  return value
}

const contentOf = (data: unknown): { readonly body: Uint8Array | ReadableStream<unknown>; readonly type: string } => {
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
  throw new TypeError("A file is made of a string, a buffer, a Blob or a ReadableStream")
}

const unknownType = "application/octet-stream"

brand({ Files, StoredContent })
