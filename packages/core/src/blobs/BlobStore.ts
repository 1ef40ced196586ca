/**
 * Where bytes live: builds and what the sandbox made of them.
 *
 * Keys are paths of segments separated by `/`, made by us, never by a tenant.
 */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../errors/Errors.ts"

export class BlobStore extends Context.Service<
  BlobStore,
  {
    /** What `storage_backend` of a build says: "filesystem", "memory", … */
    readonly backend: string
    /** Atomic: a reader sees the old bytes or the new ones, whole; durable when it returns. */
    readonly put: (key: string, bytes: Uint8Array) => Effect.Effect<void, StoreUnavailable>
    readonly get: (key: string) => Effect.Effect<Uint8Array, NotFound | StoreUnavailable>
    /** Removing what is not there succeeds. */
    readonly remove: (key: string) => Effect.Effect<void, StoreUnavailable>
  }
>()("@weft/core/blobs/BlobStore") {}
