/**
 * Where records of files and of uploads live. Their bytes are in the blob store.
 *
 * No bytes without an owner: before bytes are written under a new key, the key is noted as *loose*, with the
 * instant until which its writer may still be at work. Storing the file takes the note away, and notes the key that
 * the file had before, in one transaction. Whatever is still loose after its instant is nobody's: the janitor takes
 * it, from when on no file can be stored with it, and then removes the bytes.
 */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../errors/Errors.ts"
import type { EnvId, FileId, OrgId, UploadId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { File } from "./File.ts"
import type { MultipartUpload, UploadedPart } from "./MultipartUpload.ts"

/** On what terms a file may be stored. */
export interface StoreTerms {
  readonly org_id: OrgId
  /** What files and uploaded parts of all the organization's environments may have together, in bytes; -1: no limit. */
  readonly storage_bytes: number
  /** Whether a path that has no file may get one, and one that has may get another. */
  readonly mayCreate: boolean
  readonly mayReplace: boolean
  /** When the bytes that the file had before may be removed. */
  readonly looseUntil: Timestamp
}

export type Stored =
  /** As stored: a file that was there keeps its `file_id`, `created_at` and `created_by_run_id`. */
  | { readonly _tag: "Stored"; readonly file: File }
  | { readonly _tag: "OverStorage" }
  | { readonly _tag: "MayNotCreate" }
  | { readonly _tag: "MayNotReplace" }
  /** The note of its bytes is gone: they were, or will be, removed. */
  | { readonly _tag: "BytesGone" }

export interface FileFilter {
  /** Only paths that begin so. */
  readonly prefix?: string
  /** Only paths that one of these names: a path, or a folder with all below it, which ends in `/*`. */
  readonly only?: ReadonlyArray<string>
}

export class FileStore extends Context.Service<
  FileStore,
  {
    readonly get: (envId: EnvId, id: FileId) => Effect.Effect<File, NotFound | StoreUnavailable>
    readonly find: (envId: EnvId, path: string) => Effect.Effect<File, NotFound | StoreUnavailable>
    /** By path, as bytes. */
    readonly list: (envId: EnvId, page: PageRequest, filter: FileFilter) => Effect.Effect<Page<File>, StoreUnavailable>
    /** Bytes of the files and uploaded parts of all environments of the organization. */
    readonly storageBytes: (orgId: OrgId) => Effect.Effect<number, StoreUnavailable>

    /** Notes a key as loose; noting it again moves its instant. */
    readonly announce: (storagePath: string, until: Timestamp) => Effect.Effect<void, StoreUnavailable>
    /** Moves the instant of a loose key; false when it is not loose any more, or was taken. */
    readonly extend: (storagePath: string, until: Timestamp) => Effect.Effect<boolean, StoreUnavailable>
    /** Stores the file whose bytes are under a loose key, at its path, in one transaction. */
    readonly store: (file: File, terms: StoreTerms) => Effect.Effect<Stored, StoreUnavailable>
    /** Removes the record; its key becomes loose until `looseUntil`. */
    readonly remove: (
      envId: EnvId,
      id: FileId,
      looseUntil: Timestamp
    ) => Effect.Effect<void, NotFound | StoreUnavailable>
    /**
     * Takes loose keys whose instant has passed, the `limit` oldest, in no particular order. None of them can be
     * extended or stored any more. Whoever took them has until `retryAt` to remove what is there; after that they are
     * taken again, as the youngest, so that one which cannot be removed is in nobody's way.
     */
    readonly takeLoose: (
      now: Timestamp,
      retryAt: Timestamp,
      limit: number
    ) => Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
    /** Takes the notes of these keys away. To be called when nothing is under them any more. */
    readonly forget: (storagePaths: ReadonlyArray<string>) => Effect.Effect<void, StoreUnavailable>

    readonly insertUpload: (upload: MultipartUpload) => Effect.Effect<void, StoreUnavailable>
    /** An upload that is open and has not expired at `now`. */
    readonly getUpload: (
      envId: EnvId,
      id: UploadId,
      now: Timestamp
    ) => Effect.Effect<MultipartUpload, NotFound | StoreUnavailable>
    /**
     * Notes a part, in place of one of its number. False, and nothing is noted, when the organization's storage would
     * be exceeded. `NotFound` when the upload is not open any more.
     */
    readonly putPart: (
      envId: EnvId,
      uploadId: UploadId,
      part: UploadedPart,
      terms: Pick<StoreTerms, "org_id" | "storage_bytes">
    ) => Effect.Effect<boolean, NotFound | StoreUnavailable>
    /** By number; none of an upload that is not open. */
    readonly parts: (envId: EnvId, uploadId: UploadId) => Effect.Effect<ReadonlyArray<UploadedPart>, StoreUnavailable>
    /** As `store`, and ends the upload with its parts. `NotFound` when the upload is not open any more. */
    readonly completeUpload: (
      uploadId: UploadId,
      file: File,
      terms: StoreTerms
    ) => Effect.Effect<Stored, NotFound | StoreUnavailable>
    /** Ends the upload and forgets its parts, whose bytes were dropped before. */
    readonly removeUpload: (envId: EnvId, id: UploadId) => Effect.Effect<void, NotFound | StoreUnavailable>
    /** Uploads of any environment that expired by `now`, the oldest first, at most `limit` after the one named. */
    readonly expiredUploads: (
      now: Timestamp,
      limit: number,
      after: MultipartUpload | null
    ) => Effect.Effect<ReadonlyArray<MultipartUpload>, StoreUnavailable>
  }
>()("@weft/core/files/FileStore") {}
