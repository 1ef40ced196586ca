/** Files and assets in memory. */
import type { Asset, Content, FileData, Files, StoredFile } from "../Files.ts"
import { namedError } from "./failures.ts"

/** Contents of files or assets, by path or name. */
export type Contents = Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>

interface Entry {
  readonly file: StoredFile
  readonly bytes: Uint8Array<ArrayBuffer>
}

export interface FilesOptions {
  readonly now: string
  readonly env_id: string
  readonly freshId: () => string
}

/** Maximum lifetime of a link, one week in seconds. */
const linkSecondsMax = 7 * 24 * 3600

export class MemoryFiles {
  readonly #entries = new Map<string, Entry>()
  readonly #options: FilesOptions
  #stored = 0

  constructor(contents: Contents, options: FilesOptions) {
    this.#options = options
    for (const [path, data] of Object.entries(contents)) this.#store(path, toBytes(data), inferType(data), null)
  }

  /** Returns the files for a run, or for the test if `run_id` is null. Every call first calls `check`. */
  as(run_id: string | null, check: () => void): Files {
    return {
      put: async (path, data, options = {}) => {
        const content_type = text(options.content_type ?? inferType(data), "content_type")
        const bytes = await read(data)
        check()
        return this.#store(text(path, "path"), bytes, content_type, run_id)
      },
      get: async (path) => {
        check()
        const entry = this.#entries.get(checkedPath(path))
        return entry === undefined ? null : { ...entry.file, ...toContent(() => this.#current(entry)) }
      },
      list: async (prefix = "", { limit = Number.POSITIVE_INFINITY, offset = 0 } = {}) => {
        check()
        const paths = [...this.#entries.keys()].filter((path) => path.startsWith(text(prefix, "prefix"))).sort()
        return paths.slice(offset, offset + limit).flatMap((path) => this.#entries.get(path)?.file ?? [])
      },
      delete: async (path) => {
        check()
        return this.#entries.delete(checkedPath(path))
      },
      url: async (path, { expires_in = 3600 } = {}) => {
        check()
        if (!Number.isInteger(expires_in) || expires_in < 1 || expires_in > linkSecondsMax) {
          throw namedError("BadRequest", `expires_in must be a whole number from 1 to ${linkSecondsMax}`)
        }
        const entry = this.#entries.get(checkedPath(path))
        if (entry === undefined) throw namedError("NotFound", "There is no such file")
        const expires = Math.floor(Date.parse(this.#options.now) / 1000) + expires_in
        const { file_id } = entry.file
        return `https://weft.test/v1/files/${file_id}/content?env_id=${this.#options.env_id}&expires=${expires}&signature=test`
      }
    }
  }

  #store(path: string, bytes: Uint8Array<ArrayBuffer>, content_type: string, run_id: string | null): StoredFile {
    const { now, freshId } = this.#options
    const before = this.#entries.get(checkedPath(path))?.file
    const file: StoredFile = {
      file_id: before?.file_id ?? freshId(),
      path,
      size: bytes.length,
      etag: `"${++this.#stored}"`,
      content_type,
      created_by_run_id: before === undefined ? run_id : before.created_by_run_id,
      updated_by_run_id: run_id,
      created_at: before?.created_at ?? now,
      updated_at: now
    }
    this.#entries.set(path, { file, bytes })
    return file
  }

  #current({ file, bytes }: Entry): Uint8Array<ArrayBuffer> {
    if (this.#entries.get(file.path)?.file.etag === file.etag) return bytes
    throw namedError("NotFound", "The file was replaced since it was looked up")
  }
}

/** Returns a file of the build, or null. */
export const findAsset = (contents: Contents, name: string): (Asset & Content) | null => {
  const data = Object.hasOwn(contents, name) ? contents[name] : undefined
  if (data === undefined) return null
  const bytes = toBytes(data)
  const content_type = assetTypes.get(name.slice(name.lastIndexOf(".") + 1)) ?? unknownType
  return { name, size: bytes.length, content_type, etag: `"${name}"`, ...toContent(() => bytes) }
}

const toContent = (bytes: () => Uint8Array<ArrayBuffer>): Content => ({
  bytes: async () => bytes().slice(),
  text: async () => new TextDecoder().decode(bytes()),
  json: async () => JSON.parse(new TextDecoder().decode(bytes())),
  stream: () => new Blob([bytes()]).stream()
})

const unknownType = "application/octet-stream"

const assetTypes: ReadonlyMap<string, string> = new Map([
  ["css", "text/css; charset=utf-8"],
  ["csv", "text/csv; charset=utf-8"],
  ["html", "text/html; charset=utf-8"],
  ["json", "application/json"],
  ["md", "text/markdown; charset=utf-8"],
  ["pdf", "application/pdf"],
  ["png", "image/png"],
  ["svg", "image/svg+xml"],
  ["txt", "text/plain; charset=utf-8"]
])

const inferType = (data: unknown): string => {
  if (typeof data === "string") return "text/plain; charset=utf-8"
  return data instanceof Blob && data.type !== "" ? data.type : unknownType
}

const toBytes = (data: string | Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  typeof data === "string" ? new TextEncoder().encode(data) : data.slice()

const read = async (data: FileData): Promise<Uint8Array<ArrayBuffer>> => {
  if (typeof data === "string") return toBytes(data)
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice()
  if (data instanceof ArrayBuffer || data instanceof Blob || data instanceof ReadableStream) {
    return new Uint8Array(await new Response(data).arrayBuffer())
  }
  throw new TypeError("The data of a file must be a string, a buffer, a Blob or a ReadableStream")
}

const checkedPath = (path: string): string => {
  const segments = text(path, "path").split("/")
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it rejects control characters
  const wrong = /[\u0000-\u001f\u007f-\u009f\\]/.test(path) || new TextEncoder().encode(path).length > 1024
  if (wrong || segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
    throw namedError("BadRequest", "path must have 1 to 1024 bytes, in segments that are not empty, . or ..")
  }
  return path
}

const text = (value: unknown, name: string): string => {
  if (typeof value !== "string") throw new TypeError(`${name} must be a string`)
  return value
}
