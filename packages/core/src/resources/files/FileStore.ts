/**
 * Storage of the records of files and uploads. Their bytes are in the blob store.
 *
 * Reservations ensure that unreferenced bytes are found and removed, also after a crash:
 *
 * 1. Before a writer writes bytes under a new key, it reserves the key for a limited time.
 * 2. The transaction that stores the file removes the reservation of its key, and adds one for the key of the replaced
 *    bytes.
 * 3. When a reservation has expired, the janitor claims the key. From then on no file can be stored with it.
 * 4. The janitor removes the bytes, then the reservation.
 */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, FileId, OrgId, UploadId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { File } from "./File.ts"
import type { MultipartUpload, UploadedPart } from "./MultipartUpload.ts"

/** Conditions under which a file may be stored. */
export interface StoreTerms {
  readonly org_id: OrgId
  /** Storage quota for files and uploaded parts of all the organization's environments, in bytes; -1 for unlimited. */
  readonly storage_bytes: number
  /** True if a new path may get a file. */
  readonly mayCreate: boolean
  /** True if an existing file may be replaced. */
  readonly mayReplace: boolean
  /** Time from which the replaced bytes may be removed. */
  readonly reclaimAt: Timestamp
}

export type Stored =
  /** The stored record. A replaced file keeps its `file_id`, `created_at` and `created_by_run_id`. */
  | { readonly _tag: "Stored"; readonly file: File }
  | { readonly _tag: "OverStorage" }
  | { readonly _tag: "MayNotCreate" }
  | { readonly _tag: "MayNotReplace" }
  /** The reservation of the bytes was claimed: they were or will be removed. */
  | { readonly _tag: "BytesGone" }

export interface FileFilter {
  /** Only paths with this prefix. */
  readonly prefix?: string
  /** Only these paths. An entry that ends in `/*` matches a folder with everything below it. */
  readonly only?: ReadonlyArray<string>
}

export class FileStore extends Context.Service<
  FileStore,
  {
    readonly get: (envId: EnvId, id: FileId) => Effect.Effect<File, NotFound | StoreUnavailable>
    readonly find: (envId: EnvId, path: string) => Effect.Effect<File, NotFound | StoreUnavailable>
    /** Lists files in the byte order of their paths. */
    readonly list: (envId: EnvId, page: PageRequest, filter: FileFilter) => Effect.Effect<Page<File>, StoreUnavailable>
    /** Returns the bytes of the files and uploaded parts of all environments of the organization. */
    readonly storageBytes: (orgId: OrgId) => Effect.Effect<number, StoreUnavailable>

    /** Reserves a key until an instant, or replaces the instant of an existing reservation. */
    readonly reserve: (storagePath: string, until: Timestamp) => Effect.Effect<void, StoreUnavailable>
    /** Replaces the instant of a reservation. False if it does not exist or was claimed. */
    readonly extend: (storagePath: string, until: Timestamp) => Effect.Effect<boolean, StoreUnavailable>
    /** Stores the file, whose key is reserved, at its path, in one transaction. */
    readonly store: (file: File, terms: StoreTerms) => Effect.Effect<Stored, StoreUnavailable>
    /** Removes the record and reserves its key until `reclaimAt`. */
    readonly remove: (
      envId: EnvId,
      id: FileId,
      reclaimAt: Timestamp
    ) => Effect.Effect<void, NotFound | StoreUnavailable>
    /**
     * Claims the `limit` oldest expired reservations and returns their keys, in any order. A claimed key can no longer be
     * extended or stored. The caller removes the bytes before `retryAt`. After that the keys are claimed again, after all
     * others, so that a key that cannot be removed does not block them.
     */
    readonly claimExpired: (
      now: Timestamp,
      retryAt: Timestamp,
      limit: number
    ) => Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
    /** Removes the reservations of these keys. The caller has removed their bytes. */
    readonly release: (storagePaths: ReadonlyArray<string>) => Effect.Effect<void, StoreUnavailable>

    readonly insertUpload: (upload: MultipartUpload) => Effect.Effect<void, StoreUnavailable>
    /** Returns an open upload that has not expired at `now`. */
    readonly getUpload: (
      envId: EnvId,
      id: UploadId,
      now: Timestamp
    ) => Effect.Effect<MultipartUpload, NotFound | StoreUnavailable>
    /**
     * Stores a part, or replaces the part of the same number. Returns false and stores nothing if that would exceed the
     * organization's storage quota. `NotFound` if the upload is no longer open.
     */
    readonly putPart: (
      envId: EnvId,
      uploadId: UploadId,
      part: UploadedPart,
      terms: Pick<StoreTerms, "org_id" | "storage_bytes">
    ) => Effect.Effect<boolean, NotFound | StoreUnavailable>
    /** Returns the parts in the order of their numbers, or none if the upload is not open. */
    readonly parts: (envId: EnvId, uploadId: UploadId) => Effect.Effect<ReadonlyArray<UploadedPart>, StoreUnavailable>
    /** Stores the file like `store`, and removes the upload with its parts. `NotFound` if the upload is no longer open. */
    readonly completeUpload: (
      uploadId: UploadId,
      file: File,
      terms: StoreTerms
    ) => Effect.Effect<Stored, NotFound | StoreUnavailable>
    /** Removes the records of the upload and its parts, after their bytes were removed. */
    readonly removeUpload: (envId: EnvId, id: UploadId) => Effect.Effect<void, NotFound | StoreUnavailable>
    /** Returns at most `limit` uploads of any environment that expired by `now`, the oldest first, after `after`. */
    readonly expiredUploads: (
      now: Timestamp,
      limit: number,
      after: MultipartUpload | null
    ) => Effect.Effect<ReadonlyArray<MultipartUpload>, StoreUnavailable>
  }
>()("@weft/core/resources/files/FileStore") {}
