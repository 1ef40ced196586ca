/** What carries a shared feed: the seam that an adapter fills. */
import { type Effect, type Queue, Schema } from "effect"
import type { Timestamp } from "../ids/Timestamp.ts"

/** A text of any node, this one included, or how the way to the others is. */
export type FeedSignal =
  | { readonly _tag: "Text"; readonly text: string }
  /** What is sent may not arrive any more, and has perhaps not since `since`. */
  | { readonly _tag: "Away"; readonly since: Timestamp }
  /** What is sent from now on arrives. Also where it was only away for too short a time to be noticed before. */
  | { readonly _tag: "Back" }

export interface FeedTransport {
  /** The largest text, in bytes of UTF-8. */
  readonly textBytesMax: number
  /**
   * Sends texts to all nodes, in this order. Where it fails, all of them are sent again later. Not called again before it
   * has returned.
   */
  readonly send: (texts: ReadonlyArray<string>) => Effect.Effect<void, FeedAway>
  /** The texts of a node in the order in which it sent them. It begins connected. */
  readonly received: Queue.Dequeue<FeedSignal>
}

/** Others cannot be told now. */
export class FeedAway extends Schema.TaggedError<FeedAway>()("FeedAway", { cause: Schema.Defect() }) {
  override get message(): string {
    return "The other nodes cannot be told now"
  }
}
