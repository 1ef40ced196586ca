/** The files of one environment as an embedding program sees them. */
import { Effect, Stream } from "effect"
import type { Caller } from "./access/Caller.ts"
import { defaultContentType } from "./files/ContentType.ts"
import type { File } from "./files/File.ts"
import { type Content, Files } from "./files/Files.ts"
import { firstPage, type Page, type PageRequest } from "./ids/Page.ts"

export interface HostFiles {
  /** By path. */
  readonly list: (page?: PageRequest, prefix?: string) => Promise<Page<File>>
  readonly get: (fileId: string) => Promise<File>
  /**
   * Stores the bytes at the path, in place of what was there. `application/octet-stream` by default. Rejects with what
   * the iteration throws; then nothing is kept.
   */
  readonly upload: (
    path: string,
    bytes: Uint8Array | AsyncIterable<Uint8Array>,
    options?: { readonly content_type?: string }
  ) => Promise<File>
  /** The bytes, as fast as they are taken. Ending the iteration gives up the rest. */
  readonly download: (fileId: string) => AsyncIterable<Uint8Array>
  readonly remove: (fileId: string) => Promise<void>
}

type Run = <A, E>(effect: Effect.Effect<A, E, Files | Caller>) => Promise<A>

export const hostFiles = (run: Run): HostFiles => ({
  list: (page = firstPage, prefix) => run(Files.use((files) => files.list(page, prefix))),
  get: (fileId) => run(Files.use((files) => files.get(fileId))),
  upload: (path, bytes, { content_type = defaultContentType } = {}) =>
    run(Files.use((files) => files.upload({ path, content_type, runId: null, ...contentOf(bytes) }))),
  download: async function* (fileId) {
    yield* await run(Stream.toAsyncIterableEffect(bytesOf(fileId)))
  },
  remove: (fileId) => run(Files.use((files) => files.remove(fileId)))
})

const contentOf = (bytes: Uint8Array | AsyncIterable<Uint8Array>): Content<unknown> =>
  bytes instanceof Uint8Array
    ? { size: bytes.length, bytes: Stream.succeed(bytes) }
    : { size: null, bytes: Stream.fromAsyncIterable(bytes, (error) => error) }

const bytesOf = (fileId: string) =>
  Files.use((files) => Effect.flatMap(files.open(fileId), (opened) => opened.read())).pipe(Stream.unwrap)
