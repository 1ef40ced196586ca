/**
 * Storage of bytes: builds, their compiled artifacts, and files.
 *
 * Keys are paths of segments separated by `/`. Weft makes them, never a tenant. A blob is replaced or removed
 * atomically: a reader sees the old bytes or the new ones, never a mixture.
 */
import { Context, type Effect, type Scope, type Stream } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"

/** Bytes from `start` (0-based) up to but not including `end`. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Response headers for served bytes. */
export interface ServedAs {
  readonly contentType: string
  readonly contentDisposition: string
}

/** Size and digest of written bytes. */
export interface WrittenBlob {
  /** In bytes. */
  readonly size: number
  /**
   * Equal for equal bytes, different for different ones. Letters and digits only. That of `write` is the SHA-256 in
   * lowercase hex, and that of `writePart` begins with it.
   */
  readonly digest: string
}

/** An incremental SHA-256. */
export interface BlobHash {
  /** Adds bytes, which the caller may change afterwards. */
  readonly update: (bytes: Uint8Array) => void
  /** The digest of all bytes in lowercase hex. Can be run once, after the last `update`. */
  readonly digest: Effect.Effect<string>
}

/** A part of a multipart blob. */
export interface BlobPart extends WrittenBlob {
  /** From 1. */
  readonly number: number
}

export class BlobStore extends Context.Service<
  BlobStore,
  {
    /** Value of `storage_backend` in records: "filesystem", "memory", … */
    readonly backend: string
    /**
     * True if no blob is stored. Weft refuses to start with an empty database next to existing blobs. A store without this
     * field is not checked.
     */
    readonly isEmpty?: Effect.Effect<boolean, StoreUnavailable>
    /** Begins a SHA-256, with the fastest implementation of the host. */
    readonly newHash: () => BlobHash
    /** Atomic and durable when it returns. */
    readonly put: (key: string, bytes: Uint8Array) => Effect.Effect<void, StoreUnavailable>
    readonly get: (key: string) => Effect.Effect<Uint8Array, NotFound | StoreUnavailable>
    /** Succeeds if the key does not exist. */
    readonly remove: (key: string) => Effect.Effect<void, StoreUnavailable>

    /**
     * As `put`, for a stream of any size, in constant memory. If the stream fails, or the effect is interrupted, nothing
     * is stored and an existing blob stays. Chunks marked as disposable may be disposed of after they are written (see
     * `DisposableChunks`).
     */
    readonly write: <E>(
      key: string,
      bytes: Stream.Stream<Uint8Array, E>
    ) => Effect.Effect<WrittenBlob, E | StoreUnavailable>
    /**
     * Reads a range, or all bytes, in constant memory, with back-pressure. Returns the blob as it was when the effect
     * succeeded, even if it is replaced or removed meanwhile. `range` must lie within the blob.
     */
    readonly read: (
      key: string,
      range?: ByteRange
    ) => Effect.Effect<Stream.Stream<Uint8Array, StoreUnavailable>, NotFound | StoreUnavailable, Scope.Scope>

    /**
     * Returns a presigned URL that serves the bytes with these headers, for as long as the store is configured to allow.
     * Returns null if the bytes are only available through this process. Does not check that the blob exists.
     */
    readonly address: (key: string, as: ServedAs) => Effect.Effect<string | null>

    /** Begins a multipart blob and returns the name of its parts. The key does not exist until the parts are joined. */
    readonly beginParts: (key: string) => Effect.Effect<string, StoreUnavailable>
    /**
     * Writes a part, or replaces the part of that number, atomically and durably. Parts may be written in any order and
     * concurrently. Fails with `NotFound` if the parts were joined or dropped. Otherwise like `write`.
     */
    readonly writePart: <E>(
      key: string,
      parts: string,
      number: number,
      bytes: Stream.Stream<Uint8Array, E>
    ) => Effect.Effect<WrittenBlob, E | NotFound | StoreUnavailable>
    /**
     * Joins the chosen parts, in the order given, to one blob under the key. Takes no longer for larger parts. Other
     * parts are dropped. Idempotent until it has succeeded. Fails with `NotFound`, and changes nothing, if a part of that
     * number and digest does not exist, or the parts were dropped. If one part has 5 MiB or more, all but the last must
     * have, and their numbers must ascend.
     */
    readonly joinParts: (
      key: string,
      parts: string,
      chosen: ReadonlyArray<BlobPart>
    ) => Effect.Effect<WrittenBlob, NotFound | StoreUnavailable>
    /** Removes parts that were not joined. Succeeds if no such parts exist. */
    readonly dropParts: (key: string, parts: string) => Effect.Effect<void, StoreUnavailable>
  }
>()("@weft/core/platform/blobs/BlobStore") {}
