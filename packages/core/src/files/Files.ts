/** Files of the caller's environment. Permission first, then the rules, then the stores. */
import { Context, type Effect, type Scope, type Stream } from "effect"
import type { Caller } from "../access/Caller.ts"
import type { ByteRange } from "../blobs/BlobStore.ts"
import type { BadRequest, Forbidden, NotFound, PlanRequired, StoreUnavailable } from "../errors/Errors.ts"
import type { RunId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { File } from "./File.ts"

/** The content of a file as it comes in. */
export interface Content<E> {
  /** In bytes, when it is known beforehand; null otherwise. */
  readonly size: number | null
  readonly bytes: Stream.Stream<Uint8Array, E>
}

export interface NewFile<E> extends Content<E> {
  /** 1 to 1024 bytes of segments separated by `/` (decisions section 2). */
  readonly path: string
  readonly content_type: string
  /** The run whose code stores it; null for everybody else. */
  readonly runId: RunId | null
}

/** A file, and its bytes when they are wanted. */
export interface OpenFile {
  readonly file: File
  readonly read: (
    range?: ByteRange
  ) => Effect.Effect<Stream.Stream<Uint8Array, StoreUnavailable>, NotFound | StoreUnavailable, Scope.Scope>
}

/** The largest file of a single request, in bytes: 300 MB (specification, "Limits"). */
export const simpleUploadBytesMax = 300 * 1024 ** 2

type Denied = Forbidden | StoreUnavailable

export class Files extends Context.Service<
  Files,
  {
    /** By path; only files that the caller may read. */
    readonly list: (page: PageRequest, prefix?: string) => Effect.Effect<Page<File>, Denied, Caller>
    readonly get: (id: string) => Effect.Effect<File, Denied | NotFound, Caller>
    readonly open: (id: string) => Effect.Effect<OpenFile, Denied | NotFound, Caller>
    /** By path, for user code. Needs `file: read` on the path. */
    readonly openPath: (path: string) => Effect.Effect<OpenFile, Denied | BadRequest | NotFound, Caller>
    /**
     * Stores the bytes at a path, in place of what was there. Needs `file: create` for a new path, `update` for one
     * that exists. `BadRequest` above 300 MB, `PlanRequired` above what the plan allows: from the announced size if
     * there is one, else as soon as the bytes pass it; nothing is kept then, nor when the stream fails.
     */
    readonly upload: <E>(input: NewFile<E>) => Effect.Effect<File, E | Denied | BadRequest | PlanRequired, Caller>
    readonly remove: (id: string) => Effect.Effect<void, Denied | NotFound, Caller>
  }
>()("@weft/core/files/Files") {}
