/** Multipart uploads of the caller's environment (specification, "Multipart upload"). */
import { Context, Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import {
  BadRequest,
  type Forbidden,
  type NotFound,
  type PlanRequired,
  type StoreUnavailable
} from "../../foundation/Errors.ts"
import { toIdOrName } from "../../foundation/IdOrName.ts"
import { FileId, freshIds, isUuid, UploadId } from "../../foundation/Ids.ts"
import { addMillis, now } from "../../foundation/time/Timestamp.ts"
import { BlobStore } from "../../platform/blobs/BlobStore.ts"
import { type Caller, type Identity, requirePermission } from "../../tenants/access/Caller.ts"
import type { Plans } from "../../tenants/orgs/Plans.ts"
import { type Bound, boundedBytes, checkSize, checkWritten } from "./BoundedContent.ts"
import { formatParts } from "./Checksum.ts"
import { checkContentType, defaultContentType } from "./ContentType.ts"
import type { File } from "./File.ts"
import { checkPath } from "./FilePath.ts"
import { hasAny, requireRights, requireRightTo, rightsOn, type StoreRights } from "./FileRights.ts"
import { FileStore } from "./FileStore.ts"
import { type Content, graceMs, orNull, requireStored } from "./Files.ts"
import { type MultipartUpload, partBytesMax, type UploadedPart } from "./MultipartUpload.ts"
import { noSuchUpload, OpenUploads } from "./OpenUploads.ts"
import { assembledBytesMax, assembledSize, parsePartNumber, planParts } from "./Parts.ts"
import { type Allowance, makeQuota, storageFull } from "./Quota.ts"

export interface NewUpload {
  readonly path: string
  /** Size in bytes, to check the quota at once and to plan the parts. */
  readonly expected_size?: number
  /** `application/octet-stream` by default. */
  readonly content_type?: string
}

/** Lifetime of an open upload, in milliseconds: 24 hours. */
const openMs = 24 * 60 * 60 * 1000

type Denied = Forbidden | StoreUnavailable

export class Uploads extends Context.Service<
  Uploads,
  {
    /** Opens an upload. Like all methods, needs the permission to store a file at the path. */
    readonly initiate: (input: NewUpload) => Effect.Effect<MultipartUpload, Denied | BadRequest | PlanRequired, Caller>
    /** Stores a part, or replaces an existing part. `partNumber` is unchecked input from the URL. */
    readonly putPart: <E>(
      uploadId: string,
      partNumber: string,
      content: Content<E>
    ) => Effect.Effect<UploadedPart, E | Denied | BadRequest | NotFound | PlanRequired, Caller>
    /**
     * Stores the file and ends the upload. Does not wait for parts that are still being sent. Fails with `BadRequest`, and
     * keeps the upload open, if a part is missing or too small, or if the total differs from `expected_size`.
     */
    readonly complete: (uploadId: string) => Effect.Effect<File, Denied | BadRequest | NotFound | PlanRequired, Caller>
    readonly abort: (uploadId: string) => Effect.Effect<void, Denied | NotFound, Caller>
  }
>()("@weft/core/resources/files/Uploads") {
  static readonly layer: Layer.Layer<
    Uploads,
    never,
    FileStore | BlobStore | OpenUploads | Plans | SecureRandom.SecureRandom
  > = Layer.effect(
    Uploads,
    Effect.gen(function* () {
      const { discard } = yield* OpenUploads
      const find = yield* makeFind

      return Uploads.of({
        initiate: yield* makeInitiate,
        putPart: yield* makePutPart,
        complete: yield* makeComplete,
        abort: Effect.fnUntraced(function* (id) {
          const { upload } = yield* find(id)
          yield* discard(upload)
        })
      })
    })
  )
}

interface Found {
  readonly caller: Identity
  readonly upload: MultipartUpload
  readonly rights: StoreRights
}

const makeFind = Effect.gen(function* () {
  const store = yield* FileStore

  /** Returns an upload to a path where the caller may store a file. */
  return Effect.fnUntraced(function* (id: string) {
    const caller = yield* requireAny
    const uploadId = toIdOrName(id)
    if (!isUuid(uploadId)) return yield* noSuchUpload
    const upload = yield* store.getUpload(caller.env_id, UploadId.make(uploadId), yield* now)
    const rights = rightsOn(caller, upload.path)
    return hasAny(rights) ? ({ caller, upload, rights } satisfies Found) : yield* noSuchUpload
  })
})

/** Fails unless the caller may create or update any file. */
const requireAny = Effect.catchTag(requirePermission("file", [], "create"), "Forbidden", (error) =>
  Effect.catchTag(requirePermission("file", [], "update"), "Forbidden", () => Effect.fail(error))
)

const makeInitiate = Effect.gen(function* () {
  const store = yield* FileStore
  const blobs = yield* BlobStore
  const quota = yield* makeQuota
  const freshId = yield* freshIds

  /** Reserves the key for the lifetime of the upload and a grace period for a completion that began in time. */
  const open = Effect.fnUntraced(function* (upload: Omit<MultipartUpload, "storage_parts">) {
    const { storage_path, expires_at } = upload
    yield* store.reserve(storage_path, addMillis(expires_at, graceMs))
    const storage_parts = yield* blobs.beginParts(storage_path)
    const opened: MultipartUpload = { ...upload, storage_parts }
    yield* store.insertUpload(opened)
    return opened
  }, Effect.uninterruptible)

  return Effect.fnUntraced(function* (input: NewUpload) {
    const { path, expected_size = null, content_type = defaultContentType } = input
    const { caller, rights } = yield* requireRights(path)
    const { env_id } = caller
    yield* checkPath(path)
    yield* checkContentType(content_type)
    if (expected_size !== null) yield* checkExpected(expected_size)

    const old = yield* orNull(store.find(env_id, path))
    yield* requireRightTo(rights, path, old)
    const allowance = yield* quota.allowance(env_id)
    yield* checkSize(expected_size, yield* quota.bounds(allowance, Effect.succeed(old?.size ?? 0)))

    const instant = yield* now
    return yield* open({
      upload_id: yield* freshId(UploadId),
      env_id,
      path,
      content_type,
      expected_size,
      ...planParts(expected_size),
      storage_path: `files/${env_id}/${yield* freshId(FileId)}`,
      run_id: null,
      expires_at: addMillis(instant, openMs),
      created_at: instant
    })
  })
})

const makePutPart = Effect.gen(function* () {
  const store = yield* FileStore
  const blobs = yield* BlobStore
  const uploads = yield* OpenUploads
  const quota = yield* makeQuota
  const find = yield* makeFind

  const readPartSize = (upload: MultipartUpload, number: number) =>
    Effect.map(
      store.parts(upload.env_id, upload.upload_id),
      (parts) => parts.find((part) => part.part_number === number)?.size ?? 0
    )

  /** Writes a part and stores its record. An interruption after the write does not skip the record. */
  const put = <E>(upload: MultipartUpload, number: number, content: Content<E>, allowance: Allowance, bounds: Bounds) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const bytes = boundedBytes(content, bounds)
        const { size, digest } = yield* restore(
          blobs.writePart(upload.storage_path, upload.storage_parts, number, bytes)
        ).pipe(Effect.flatMap((written) => checkWritten(content, written)))
        const part: UploadedPart = { part_number: number, size, etag: `"${digest}"` }
        const fits = yield* store.putPart(upload.env_id, upload.upload_id, part, allowance)
        return fits ? part : yield* storageFull(allowance.storage_bytes)
      })
    )

  return Effect.fnUntraced(function* <E>(id: string, partNumber: string, content: Content<E>) {
    // The order of errors: permission, then invalid input, then unknown upload.
    yield* requireAny
    const number = yield* parsePartNumber(partNumber)
    yield* checkSize(content.size, [partBound])
    const { upload, rights } = yield* find(id)
    yield* requireRightTo(rights, upload.path, yield* orNull(store.find(upload.env_id, upload.path)))
    const allowance = yield* quota.allowance(upload.env_id)
    const bounds = [partBound, ...(yield* quota.bounds(allowance, readPartSize(upload, number)))]
    yield* checkSize(content.size, bounds)
    return yield* uploads.withShared(upload.upload_id, put(upload, number, content, allowance, bounds))
  })
})

type Bounds = ReadonlyArray<Bound>

const makeComplete = Effect.gen(function* () {
  const store = yield* FileStore
  const blobs = yield* BlobStore
  const uploads = yield* OpenUploads
  const quota = yield* makeQuota
  const freshId = yield* freshIds
  const find = yield* makeFind

  const assemble = Effect.fnUntraced(function* ({ upload, rights }: Found, allowance: Allowance) {
    const parts = yield* store.parts(upload.env_id, upload.upload_id)
    yield* assembledSize(parts, upload.expected_size, allowance.fileBytes)
    const chosen = parts.map(({ part_number, size, etag }) => ({ number: part_number, size, digest: unquoted(etag) }))
    const { size, digest } = yield* blobs
      .joinParts(upload.storage_path, upload.storage_parts, chosen)
      .pipe(Effect.catchTag("NotFound", () => Effect.fail(partChanged)))
    const instant = yield* now
    const file: File = {
      file_id: yield* freshId(FileId),
      env_id: upload.env_id,
      path: upload.path,
      size,
      etag: `"${digest}"`,
      content_type: upload.content_type,
      storage_backend: blobs.backend,
      storage_path: upload.storage_path,
      checksum: yield* formatParts(upload.storage_path, chosen, blobs.newHash),
      created_by_run_id: upload.run_id,
      updated_by_run_id: upload.run_id,
      created_at: instant,
      updated_at: instant
    }
    const terms = { ...allowance, ...rights, reclaimAt: addMillis(instant, graceMs) }
    return yield* store.completeUpload(upload.upload_id, file, terms)
  })

  return Effect.fnUntraced(function* (id: string) {
    const found = yield* find(id)
    const { upload, rights } = found
    yield* requireRightTo(rights, upload.path, yield* orNull(store.find(upload.env_id, upload.path)))
    const allowance = yield* quota.allowance(upload.env_id)
    // Checks the parts before the exclusive lock: a completion that is too early must not interrupt the writers.
    const parts = yield* store.parts(upload.env_id, upload.upload_id)
    yield* assembledSize(parts, upload.expected_size, allowance.fileBytes)
    const checkOpen = Effect.flatMap(now, (instant) => store.getUpload(upload.env_id, upload.upload_id, instant))
    const stored = yield* uploads.withExclusive(upload.upload_id, Effect.andThen(checkOpen, assemble(found, allowance)))
    // The reservation outlives an open upload, so the upload has expired.
    if (stored._tag === "BytesGone") return yield* noSuchUpload
    return yield* requireStored(stored, upload.path, allowance.storage_bytes)
  })
})

const unquoted = (etag: string): string => etag.slice(1, -1)

/** Checks a declared size. The maximum is far below 8 PiB, from which numbers are not exact. */
const checkExpected = (size: number): Effect.Effect<void, BadRequest> =>
  Number.isSafeInteger(size) && size >= 0 && size <= assembledBytesMax ? Effect.void : Effect.fail(badExpected)

const badExpected = new BadRequest({ reason: `expected_size must be an integer from 0 to ${assembledBytesMax}` })

const partBound: Bound = {
  bytes: partBytesMax,
  refusal: new BadRequest({ reason: `A part must have at most ${partBytesMax} bytes` })
}

const partChanged = new BadRequest({
  reason: "The stored parts differ from the acknowledged parts: upload the unacknowledged parts again"
})
