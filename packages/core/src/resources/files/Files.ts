/** Files of the caller's environment. Methods check the permission first, then the input, then use the stores. */
import { Context, Effect, Layer, type Scope, Stream } from "effect"
import type { SecureRandom } from "effect/crypto"
import {
  BadRequest,
  type ContentDamaged,
  type Forbidden,
  NotFound,
  type PlanRequired,
  StoreUnavailable
} from "../../foundation/Errors.ts"
import { toIdOrName } from "../../foundation/IdOrName.ts"
import { FileId, freshIds, isUuid, type RunId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { isStorable } from "../../foundation/StorableText.ts"
import { addMillis, now } from "../../foundation/time/Timestamp.ts"
import { BlobStore, type ByteRange, type ServedAs } from "../../platform/blobs/BlobStore.ts"
import { type Caller, requirePermission } from "../../tenants/access/Caller.ts"
import { allows, readable } from "../../tenants/access/Permission.ts"
import type { Plans } from "../../tenants/orgs/Plans.ts"
import { type Bound, boundedBytes, checkSize, checkWritten } from "./BoundedContent.ts"
import { formatWhole, parseChecksum } from "./Checksum.ts"
import { checkContentType } from "./ContentType.ts"
import { DamageReports, failDamaged } from "./DamageReports.ts"
import type { File } from "./File.ts"
import { checkPath } from "./FilePath.ts"
import { requireRights, requireRightTo, rightRefused } from "./FileRights.ts"
import { FileStore, type Stored } from "./FileStore.ts"
import { makeQuota, storageFull } from "./Quota.ts"
import { Readers } from "./Readers.ts"
import { makeUncommittedBlobs } from "./UncommittedBlobs.ts"
import { verified } from "./Verification.ts"

/** Incoming content of a file. */
export interface Content<E> {
  /** Declared size in bytes, or null. */
  readonly size: number | null
  readonly bytes: Stream.Stream<Uint8Array, E>
}

export interface NewFile<E> extends Content<E> {
  /** 1 to 1024 bytes of segments separated by `/` (decisions section 2). */
  readonly path: string
  readonly content_type: string
  /** Run whose code stores the file; null for other callers. */
  readonly runId: RunId | null
}

/** A file and access to its bytes. */
export interface OpenFile {
  readonly file: File
  /**
   * Reads a range, or all bytes. Bytes that are read completely are verified: a small content before the first one, a
   * large content before its end. Neither is ever returned completely if it is damaged. Ranges are not verified.
   */
  readonly read: (
    range?: ByteRange
  ) => Effect.Effect<
    Stream.Stream<Uint8Array, StoreUnavailable | ContentDamaged>,
    NotFound | StoreUnavailable | ContentDamaged,
    Scope.Scope
  >
  /** Returns a URL of the bytes in the blob store that needs no credential, or null if the blob store has no URLs. */
  readonly address: (as: ServedAs) => Effect.Effect<string | null>
}

/** Maximum size of a file in a single request, in bytes: 300 MB (specification, "Limits"). */
export const simpleUploadBytesMax = 300 * 1024 ** 2

/**
 * Time for which the bytes of a replaced or removed file remain, in milliseconds. A request on any node may have looked
 * up the file before and read its bytes afterwards.
 */
export const graceMs = 60_000

type Denied = Forbidden | StoreUnavailable

export class Files extends Context.Service<
  Files,
  {
    /** Lists the files that the caller may read, by path. */
    readonly list: (page: PageRequest, prefix?: string) => Effect.Effect<Page<File>, Denied | BadRequest, Caller>
    readonly get: (id: string) => Effect.Effect<File, Denied | NotFound, Caller>
    readonly open: (id: string) => Effect.Effect<OpenFile, Denied | NotFound, Caller>
    /** Opens the file at a path, for user code. Needs `file: read` on the path. */
    readonly openPath: (path: string) => Effect.Effect<OpenFile, Denied | BadRequest | NotFound, Caller>
    /**
     * Stores the bytes at a path, and replaces an existing file. Needs `file: create` for a new path, `file: update` for
     * an existing one. `BadRequest` above 300 MB, `PlanRequired` above the limits of the plan. The declared size is checked
     * first, then the bytes as they arrive. After an error, also one of the stream, nothing is stored.
     */
    readonly upload: <E>(input: NewFile<E>) => Effect.Effect<File, E | Denied | BadRequest | PlanRequired, Caller>
    readonly remove: (id: string) => Effect.Effect<void, Denied | NotFound, Caller>
  }
>()("@weft/core/resources/files/Files") {
  static readonly layer: Layer.Layer<
    Files,
    never,
    FileStore | BlobStore | Plans | Readers | DamageReports | SecureRandom.SecureRandom
  > = Layer.effect(
    Files,
    Effect.gen(function* () {
      const store = yield* FileStore
      const blobs = yield* BlobStore
      const readers = yield* Readers
      const upload = yield* makeUpload
      const readVerified = yield* makeReadVerified

      /** Returns a file on which the caller holds `action`. For other files, `NotFound` does not reveal that they exist. */
      const find = Effect.fnUntraced(function* (id: string, action: "read" | "delete") {
        const caller = yield* requirePermission("file", [], action)
        const fileId = toIdOrName(id)
        if (!isUuid(fileId)) return yield* noSuchFile
        const file = yield* store.get(caller.env_id, FileId.make(fileId))
        return allows(caller.permissions, "file", file.path, action) ? file : yield* noSuchFile
      })

      const toOpenFile = (file: File): OpenFile => ({
        file,
        read: (range) => Effect.andThen(readers.enter(file.storage_path), readVerified(file, range)),
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

        open: (id) => Effect.map(find(id, "read"), toOpenFile),

        openPath: Effect.fnUntraced(function* (path) {
          const caller = yield* requirePermission("file", path, "read")
          yield* checkPath(path)
          return toOpenFile(yield* store.find(caller.env_id, path))
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

/** Maximum bytes of a content that is verified before its first byte is returned. It is held in memory meanwhile. */
const heldBytesMax = 256 * 1024

const makeReadVerified = Effect.gen(function* () {
  const blobs = yield* BlobStore
  const reports = yield* DamageReports

  return Effect.fnUntraced(function* (file: File, range?: ByteRange) {
    const isWhole = range === undefined || (range.start === 0 && range.end >= file.size)
    const expected = isWhole ? parseChecksum(file) : null
    const bytes = yield* blobs.read(file.storage_path, range)
    if (expected === null) return bytes
    const { file_id, env_id, path, storage_path } = file
    const damaged = failDamaged(reports, { kind: "file", env_id, id: file_id, name: path, storage_path })
    const checked = verified(bytes, expected, blobs.newHash, damaged)
    return file.size > heldBytesMax ? checked : Stream.fromIterable(yield* Stream.runCollect(checked))
  })
})

const makeUpload = Effect.gen(function* () {
  const store = yield* FileStore
  const blobs = yield* BlobStore
  const quota = yield* makeQuota
  const uncommitted = yield* makeUncommittedBlobs
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
    const stored = yield* uncommitted.writeAndStore(
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
          checksum: formatWhole(key, { size, digest }),
          created_by_run_id: runId,
          updated_by_run_id: runId,
          created_at: instant,
          updated_at: instant
        }
        return yield* store.store(file, { ...allowance, ...rights, reclaimAt: addMillis(instant, graceMs) })
      })
    )
    return yield* requireStored(stored, path, allowance.storage_bytes)
  })
})

/** Returns the stored file, or fails with the reason of the refusal. */
export const requireStored = (
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
  cause: new Error("The bytes were removed because their reservation expired")
})

export const orNull = <A, E, R>(found: Effect.Effect<A, E | NotFound, R>): Effect.Effect<A | null, E, R> =>
  Effect.catchTag(found, "NotFound", () => Effect.succeed(null))
