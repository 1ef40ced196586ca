/** Storage for the scrubber: the stored contents of all environments in a fixed order, and its position among them. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, NodeId } from "../../foundation/Ids.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"

/** A stored content: a file, or the zip of a build. */
export interface ScrubTarget {
  readonly kind: "file" | "build"
  readonly id: string
  readonly env_id: EnvId
  /** Path of the file, or name of the project. */
  readonly name: string
  readonly storage_path: string
  /** As those of a file. The checksum of a build is made of its hash. */
  readonly etag: string
  readonly checksum: string | null
}

export class ScrubStore extends Context.Service<
  ScrubStore,
  {
    /**
     * Claims the scrubber for a node until an instant. Returns the position of the last verified target, empty at the
     * start of a pass; null if another node holds the claim at `now`.
     */
    readonly claim: (node: NodeId, now: Timestamp, until: Timestamp) => Effect.Effect<string | null, StoreUnavailable>
    /** Stores the position and extends the claim. Returns false, and stores nothing, if the node does not hold it. */
    readonly advance: (node: NodeId, position: string, until: Timestamp) => Effect.Effect<boolean, StoreUnavailable>
    /** Returns the targets after a position, at most `limit`: builds by id, then files by id. */
    readonly targets: (position: string, limit: number) => Effect.Effect<ReadonlyArray<ScrubTarget>, StoreUnavailable>
  }
>()("@weft/core/resources/files/ScrubStore") {}

/** Returns the position of a target. */
export const scrubPosition = ({ kind, id }: Pick<ScrubTarget, "kind" | "id">): string => `${kind} ${id}`
