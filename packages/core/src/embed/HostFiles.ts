/** The files of one environment, for the host. */
import { Effect, Stream } from "effect"
import { firstPage, type Page, type PageRequest } from "../foundation/Page.ts"
import { defaultContentType } from "../resources/files/ContentType.ts"
import type { File } from "../resources/files/File.ts"
import { type Content, Files } from "../resources/files/Files.ts"
import type { Caller } from "../tenants/access/Caller.ts"

export interface HostFiles {
  /** Lists files by path. */
  readonly list: (page?: PageRequest, prefix?: string) => Promise<Page<File>>
  readonly get: (fileId: string) => Promise<File>
  /**
   * Stores the bytes at the path and replaces an existing file. The content type is `application/octet-stream` by default.
   * If the iteration throws, the upload rejects with that error and stores nothing.
   */
  readonly upload: (
    path: string,
    bytes: Uint8Array | AsyncIterable<Uint8Array>,
    options?: { readonly content_type?: string }
  ) => Promise<File>
  /** Reads the bytes with back-pressure. Ending the iteration cancels the rest. */
  readonly download: (fileId: string) => AsyncIterable<Uint8Array>
  readonly remove: (fileId: string) => Promise<void>
}

type Run = <A, E>(effect: Effect.Effect<A, E, Files | Caller>) => Promise<A>

export const hostFiles = (run: Run): HostFiles => ({
  list: (page = firstPage, prefix) => run(Files.use((files) => files.list(page, prefix))),
  get: (fileId) => run(Files.use((files) => files.get(fileId))),
  upload: (path, bytes, { content_type = defaultContentType } = {}) =>
    run(Files.use((files) => files.upload({ path, content_type, runId: null, ...toContent(bytes) }))),
  download: async function* (fileId) {
    yield* await run(Stream.toAsyncIterableEffect(readBytes(fileId)))
  },
  remove: (fileId) => run(Files.use((files) => files.remove(fileId)))
})

const toContent = (bytes: Uint8Array | AsyncIterable<Uint8Array>): Content<unknown> =>
  bytes instanceof Uint8Array
    ? { size: bytes.length, bytes: Stream.succeed(bytes) }
    : { size: null, bytes: Stream.fromAsyncIterable(bytes, (error) => error) }

const readBytes = (fileId: string) =>
  Files.use((files) => Effect.flatMap(files.open(fileId), (opened) => opened.read())).pipe(Stream.unwrap)
