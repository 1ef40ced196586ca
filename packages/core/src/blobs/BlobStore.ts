/**
 * Where bytes live: builds, what the sandbox made of them, and files.
 *
 * Keys are paths of segments separated by `/`, made by us, never by a tenant. What is stored under a key is
 * replaced or removed whole: a reader sees the old bytes or the new ones, never a mixture.
 */
import { Context, type Effect, type Scope, type Stream } from "effect"
import type { NotFound, StoreUnavailable } from "../errors/Errors.ts"

/** Bytes `start` (from 0) up to, not including, `end`. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Headers under which bytes are served. */
export interface ServedAs {
  readonly contentType: string
  readonly contentDisposition: string
}

/** What was written. */
export interface Written {
  /** In bytes. */
  readonly size: number
  /** Tells contents apart: equal for equal bytes, different for different ones. Letters and digits only. */
  readonly digest: string
}

/** A part of a blob that is written in parts. */
export interface BlobPart extends Written {
  /** From 1. */
  readonly number: number
}

export class BlobStore extends Context.Service<
  BlobStore,
  {
    /** What `storage_backend` of a record says: "filesystem", "memory", … */
    readonly backend: string
    /** Atomic and durable when it returns. */
    readonly put: (key: string, bytes: Uint8Array) => Effect.Effect<void, StoreUnavailable>
    readonly get: (key: string) => Effect.Effect<Uint8Array, NotFound | StoreUnavailable>
    /** Removing what is not there succeeds. */
    readonly remove: (key: string) => Effect.Effect<void, StoreUnavailable>

    /**
     * As `put`, for bytes of any number, in constant memory. When the stream fails, or the effect is interrupted,
     * nothing of it remains and what was there stays. Pieces that their maker marked as disposable may be disposed of
     * when they are written (`Pieces`).
     */
    readonly write: <E>(
      key: string,
      bytes: Stream.Stream<Uint8Array, E>
    ) => Effect.Effect<Written, E | StoreUnavailable>
    /**
     * The bytes of a range, or all, in constant memory, as fast as they are taken. What is read is what was there
     * when the effect succeeded, also when it is replaced or removed meanwhile. `range` must lie within the blob.
     */
    readonly read: (
      key: string,
      range?: ByteRange
    ) => Effect.Effect<Stream.Stream<Uint8Array, StoreUnavailable>, NotFound | StoreUnavailable, Scope.Scope>

    /**
     * A URL from which whoever has it gets the bytes with these headers, for as long as the store is told to let them;
     * null where the bytes come through this process only. Not whether there is such a blob.
     */
    readonly address: (key: string, as: ServedAs) => Effect.Effect<string | null>

    /** Begins to write a blob in parts. Nothing is under the key until they are joined. Gives the name of the parts. */
    readonly beginParts: (key: string) => Effect.Effect<string, StoreUnavailable>
    /**
     * Writes the part of a number, replacing one that is there, atomically and durably. Parts are written in any
     * order and at the same time. `NotFound` when the parts were joined or dropped. Otherwise as `write`.
     */
    readonly writePart: <E>(
      key: string,
      parts: string,
      number: number,
      bytes: Stream.Stream<Uint8Array, E>
    ) => Effect.Effect<Written, E | NotFound | StoreUnavailable>
    /**
     * Puts the named parts, in the order given, under the key as one blob; takes no longer for larger parts. Other
     * parts are dropped. Safe to repeat until it has succeeded. `NotFound`, and nothing changes, when a part of that
     * number and digest is not there, or the parts were dropped. When one has 5 MiB or more, all but the last must, and
     * their numbers must rise.
     */
    readonly joinParts: (
      key: string,
      parts: string,
      chosen: ReadonlyArray<BlobPart>
    ) => Effect.Effect<Written, NotFound | StoreUnavailable>
    /** Removes parts that were not joined. Dropping what is not there succeeds. */
    readonly dropParts: (key: string, parts: string) => Effect.Effect<void, StoreUnavailable>
  }
>()("@weft/core/blobs/BlobStore") {}
