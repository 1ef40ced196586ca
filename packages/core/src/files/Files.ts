/** Files of the caller's environment. Permission first, then the rules, then the stores. */
import { Context, Effect, Layer, type Scope, type Stream } from "effect"
import type { SecureRandom } from "effect/crypto"
import { type Caller, requirePermission } from "../access/Caller.ts"
import { allows, readable } from "../access/Permission.ts"
import { BlobStore, type ByteRange, type ServedAs } from "../blobs/BlobStore.ts"
import { BadRequest, type Forbidden, NotFound, type PlanRequired, StoreUnavailable } from "../errors/Errors.ts"
import { toIdOrName } from "../ids/IdOrName.ts"
import { FileId, freshIds, isUuid, type RunId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import { isStorable } from "../ids/StorableText.ts"
import { addMillis, now } from "../ids/Timestamp.ts"
import type { Plans } from "../tenancy/Plans.ts"
import { type Bound, boundedBytes, checkSize, checkWritten } from "./BoundedContent.ts"
import { checkContentType } from "./ContentType.ts"
import type { File } from "./File.ts"
import { checkPath } from "./FilePath.ts"
import { requireRights, requireRightTo, rightRefused } from "./FileRights.ts"
import { FileStore, type Stored } from "./FileStore.ts"
import { makeLooseBytes } from "./LooseBytes.ts"
import { makeQuota, storageFull } from "./Quota.ts"
import { Readers } from "./Readers.ts"

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
  /** A URL of the bytes elsewhere, for whoever has it; null where there is none. */
  readonly address: (as: ServedAs) => Effect.Effect<string | null>
}

/** The largest file of a single request, in bytes: 300 MB (specification, "Limits"). */
export const simpleUploadBytesMax = 300 * 1024 ** 2

/**
 * How long the bytes of a file that was replaced or removed stay, in milliseconds: for those who looked the file up
 * before, here or on another node, and are about to read it.
 */
export const graceMs = 60_000

type Denied = Forbidden | StoreUnavailable

export class Files extends Context.Service<
  Files,
  {
    /** By path; only files that the caller may read. */
    readonly list: (page: PageRequest, prefix?: string) => Effect.Effect<Page<File>, Denied | BadRequest, Caller>
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
>()("@weft/core/files/Files") {
  static readonly layer: Layer.Layer<
    Files,
    never,
    FileStore | BlobStore | Plans | Readers | SecureRandom.SecureRandom
  > = Layer.effect(
    Files,
    Effect.gen(function* () {
      const store = yield* FileStore
      const blobs = yield* BlobStore
      const readers = yield* Readers
      const upload = yield* makeUpload

      /** A file that the caller may do `action` with; whether there is another one is not for it to know. */
      const find = Effect.fnUntraced(function* (id: string, action: "read" | "delete") {
        const caller = yield* requirePermission("file", [], action)
        const fileId = toIdOrName(id)
        if (!isUuid(fileId)) return yield* noSuchFile
        const file = yield* store.get(caller.env_id, FileId.make(fileId))
        return allows(caller.permissions, "file", file.path, action) ? file : yield* noSuchFile
      })

      const opened = (file: File): OpenFile => ({
        file,
        read: (range) => Effect.andThen(readers.enter(file.storage_path), blobs.read(file.storage_path, range)),
        address: (as) => blobs.address(file.storage_path, as)
      })

      return Files.of({
        list: Effect.fnUntraced(function* (page, prefix) {
          const caller = yield* requirePermission("file", [], "read")
          if (prefix !== undefined && !isStorable(prefix)) return yield* badPrefix
          const only = readable(caller.permissions, "file", "read")
          return yield* store.list(caller.env_id, page, {
            ...(prefix === undefined ? {} : { prefix }),
            ...(only === "all" ? {} : { only })
          })
        }),

        get: (id) => find(id, "read"),

        open: (id) => Effect.map(find(id, "read"), opened),

        openPath: Effect.fnUntraced(function* (path) {
          const caller = yield* requirePermission("file", path, "read")
          yield* checkPath(path)
          return opened(yield* store.find(caller.env_id, path))
        }),

        upload,

        remove: Effect.fnUntraced(function* (id) {
          const file = yield* find(id, "delete")
          yield* store.remove(file.env_id, file.file_id, addMillis(yield* now, graceMs))
        })
      })
    })
  )
}

const badPrefix = new BadRequest({ reason: "prefix must be valid Unicode, without U+0000" })
const noSuchFile = new NotFound({ resource: "file" })

const makeUpload = Effect.gen(function* () {
  const store = yield* FileStore
  const blobs = yield* BlobStore
  const quota = yield* makeQuota
  const looseBytes = yield* makeLooseBytes
  const freshId = yield* freshIds

  return Effect.fnUntraced(function* <E>(input: NewFile<E>) {
    const { path, content_type, runId } = input
    const { caller, rights } = yield* requireRights(path)
    const { env_id } = caller
    yield* checkPath(path)
    yield* checkContentType(content_type)
    yield* checkSize(input.size, [simpleBound])

    const old = yield* orNull(store.find(env_id, path))
    yield* requireRightTo(rights, path, old)
    const allowance = yield* quota.allowance(env_id)
    const bounds = [simpleBound, ...(yield* quota.bounds(allowance, Effect.succeed(old?.size ?? 0)))]
    yield* checkSize(input.size, bounds)

    const fileId = yield* freshId(FileId)
    const key = `files/${env_id}/${yield* freshId(FileId)}`
    const write = Effect.flatMap(blobs.write(key, boundedBytes(input, bounds)), (written) =>
      checkWritten(input, written)
    )
    const stored = yield* looseBytes.through(
      key,
      write,
      Effect.fnUntraced(function* ({ size, digest }) {
        const instant = yield* now
        const file: File = {
          file_id: fileId,
          env_id,
          path,
          size,
          etag: `"${digest}"`,
          content_type,
          storage_backend: blobs.backend,
          storage_path: key,
          created_by_run_id: runId,
          updated_by_run_id: runId,
          created_at: instant,
          updated_at: instant
        }
        return yield* store.store(file, { ...allowance, ...rights, looseUntil: addMillis(instant, graceMs) })
      })
    )
    return yield* storedFile(stored, path, allowance.storage_bytes)
  })
})

/** The file that was stored, or the error that says why none was. */
export const storedFile = (
  stored: Stored,
  path: string,
  storageBytes: number
): Effect.Effect<File, Forbidden | PlanRequired | StoreUnavailable> => {
  switch (stored._tag) {
    case "Stored":
      return Effect.succeed(stored.file)
    case "OverStorage":
      return Effect.fail(storageFull(storageBytes))
    case "BytesGone":
      return Effect.fail(bytesGone)
    default:
      return Effect.fail(rightRefused(path, stored))
  }
}

const simpleBound: Bound = {
  bytes: simpleUploadBytesMax,
  refusal: new BadRequest({ reason: `A file in one request must have at most ${simpleUploadBytesMax} bytes` })
}

const bytesGone = new StoreUnavailable({
  operation: "store",
  cause: new Error("The bytes were removed, because their note was not renewed in time")
})

export const orNull = <A, E, R>(found: Effect.Effect<A, E | NotFound, R>): Effect.Effect<A | null, E, R> =>
  Effect.catchTag(found, "NotFound", () => Effect.succeed(null))
