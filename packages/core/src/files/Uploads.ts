/** Uploads in parts, of the caller's environment (specification, "Multipart upload"). */
import { Context, Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import { type Caller, type Identity, requirePermission } from "../access/Caller.ts"
import { BlobStore } from "../blobs/BlobStore.ts"
import {
  BadRequest,
  type Forbidden,
  type NotFound,
  type PlanRequired,
  type StoreUnavailable
} from "../errors/Errors.ts"
import { toIdOrName } from "../ids/IdOrName.ts"
import { FileId, freshIds, isUuid, UploadId } from "../ids/Ids.ts"
import { addMillis, now } from "../ids/Timestamp.ts"
import type { Plans } from "../tenancy/Plans.ts"
import { type Bound, boundedBytes, checkSize, checkWritten } from "./BoundedContent.ts"
import { checkContentType, defaultContentType } from "./ContentType.ts"
import type { File } from "./File.ts"
import { checkPath } from "./FilePath.ts"
import { hasAny, requireRights, requireRightTo, rightsOn, type StoreRights } from "./FileRights.ts"
import { FileStore } from "./FileStore.ts"
import { type Content, graceMs, orNull, storedFile } from "./Files.ts"
import { type MultipartUpload, partBytesMax, type UploadedPart } from "./MultipartUpload.ts"
import { noSuchUpload, OpenUploads } from "./OpenUploads.ts"
import { assembledBytesMax, assembledSize, parsePartNumber, partPlan } from "./Parts.ts"
import { type Allowance, makeQuota, storageFull } from "./Quota.ts"

export interface NewUpload {
  readonly path: string
  /** Bytes; makes the quota be checked at once, and says how many parts to expect. */
  readonly expected_size?: number
  /** `application/octet-stream` by default. */
  readonly content_type?: string
}

/** How long an upload stays open, in milliseconds: 24 hours. */
const openMs = 24 * 60 * 60 * 1000

type Denied = Forbidden | StoreUnavailable

export class Uploads extends Context.Service<
  Uploads,
  {
    /** Needs the permission that storing at the path needs, as all that follows does. */
    readonly initiate: (input: NewUpload) => Effect.Effect<MultipartUpload, Denied | BadRequest | PlanRequired, Caller>
    /** `partNumber` is what the URL says. A part that is there is replaced. */
    readonly putPart: <E>(
      uploadId: string,
      partNumber: string,
      content: Content<E>
    ) => Effect.Effect<UploadedPart, E | Denied | BadRequest | NotFound | PlanRequired, Caller>
    /**
     * Ends the upload; parts that are still being sent are not waited for. `BadRequest`, and the upload stays open,
     * for a gap, a short part that is not the last, or another total than announced.
     */
    readonly complete: (uploadId: string) => Effect.Effect<File, Denied | BadRequest | NotFound | PlanRequired, Caller>
    readonly abort: (uploadId: string) => Effect.Effect<void, Denied | NotFound, Caller>
  }
>()("@weft/core/files/Uploads") {
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

  /** An upload to a path that the caller may store at. */
  return Effect.fnUntraced(function* (id: string) {
    const caller = yield* requireAny
    const uploadId = toIdOrName(id)
    if (!isUuid(uploadId)) return yield* noSuchUpload
    const upload = yield* store.getUpload(caller.env_id, UploadId.make(uploadId), yield* now)
    const rights = rightsOn(caller, upload.path)
    return hasAny(rights) ? ({ caller, upload, rights } satisfies Found) : yield* noSuchUpload
  })
})

/** Whoever may store anything at all. */
const requireAny = Effect.catchTag(requirePermission("file", [], "create"), "Forbidden", (error) =>
  Effect.catchTag(requirePermission("file", [], "update"), "Forbidden", () => Effect.fail(error))
)

const makeInitiate = Effect.gen(function* () {
  const store = yield* FileStore
  const blobs = yield* BlobStore
  const quota = yield* makeQuota
  const freshId = yield* freshIds

  /** The note of the key holds as long as the upload does, and outlives a completion that began in time. */
  const open = Effect.fnUntraced(function* (upload: Omit<MultipartUpload, "storage_parts">) {
    const { storage_path, expires_at } = upload
    yield* store.announce(storage_path, addMillis(expires_at, graceMs))
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
      ...partPlan(expected_size),
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

  const sizeOf = (upload: MultipartUpload, number: number) =>
    Effect.map(
      store.parts(upload.env_id, upload.upload_id),
      (parts) => parts.find((part) => part.part_number === number)?.size ?? 0
    )

  /** What was written is noted also when the fiber is interrupted, so that record and bytes do not differ for that. */
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
    // What the request says is judged before what it names, and both after what its caller may do.
    yield* requireAny
    const number = yield* parsePartNumber(partNumber)
    yield* checkSize(content.size, [partBound])
    const { upload, rights } = yield* find(id)
    yield* requireRightTo(rights, upload.path, yield* orNull(store.find(upload.env_id, upload.path)))
    const allowance = yield* quota.allowance(upload.env_id)
    const bounds = [partBound, ...(yield* quota.bounds(allowance, sizeOf(upload, number)))]
    yield* checkSize(content.size, bounds)
    return yield* uploads.beside(upload.upload_id, put(upload, number, content, allowance, bounds))
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
      created_by_run_id: upload.run_id,
      updated_by_run_id: upload.run_id,
      created_at: instant,
      updated_at: instant
    }
    const terms = { ...allowance, ...rights, looseUntil: addMillis(instant, graceMs) }
    return yield* store.completeUpload(upload.upload_id, file, terms)
  })

  return Effect.fnUntraced(function* (id: string) {
    const found = yield* find(id)
    const { upload, rights } = found
    yield* requireRightTo(rights, upload.path, yield* orNull(store.find(upload.env_id, upload.path)))
    const allowance = yield* quota.allowance(upload.env_id)
    // A completion that comes too early must not disturb those who are still sending.
    const parts = yield* store.parts(upload.env_id, upload.upload_id)
    yield* assembledSize(parts, upload.expected_size, allowance.fileBytes)
    const again = Effect.flatMap(now, (instant) => store.getUpload(upload.env_id, upload.upload_id, instant))
    const stored = yield* uploads.alone(upload.upload_id, Effect.andThen(again, assemble(found, allowance)))
    // Nobody can come too late for the bytes of an upload that is open: it has just expired.
    if (stored._tag === "BytesGone") return yield* noSuchUpload
    return yield* storedFile(stored, upload.path, allowance.storage_bytes)
  })
})

const unquoted = (etag: string): string => etag.slice(1, -1)

/** Above 8 PiB sizes are no exact numbers; far below, parts do not reach. */
const checkExpected = (size: number): Effect.Effect<void, BadRequest> =>
  Number.isSafeInteger(size) && size >= 0 && size <= assembledBytesMax ? Effect.void : Effect.fail(badExpected)

const badExpected = new BadRequest({ reason: `expected_size must be an integer from 0 to ${assembledBytesMax}` })

const partBound: Bound = {
  bytes: partBytesMax,
  refusal: new BadRequest({ reason: `A part must have at most ${partBytesMax} bytes` })
}

const partChanged = new BadRequest({
  reason: "The parts are not those that were acknowledged: send again what was not acknowledged"
})
