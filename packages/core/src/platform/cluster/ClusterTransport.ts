/** The transport of a shared bus: the seam that adapters implement. */
import { type Effect, type Queue, Schema } from "effect"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"

/** A frame from any node, including this one, or a change of the connection. */
export type TransportSignal =
  | { readonly _tag: "Frame"; readonly frame: string }
  /** The connection is lost. Frames sent since `since` may be lost as well. */
  | { readonly _tag: "Disconnected"; readonly since: Timestamp }
  /** The connection works again. Also sent after an outage too short to be noticed at the time. */
  | { readonly _tag: "Reconnected" }

export interface ClusterTransport {
  /** Maximum size of a frame, in bytes of UTF-8. */
  readonly frameBytesMax: number
  /**
   * Sends frames to all nodes in this order. If it fails, the bus sends all of them again later. Never called while a
   * previous call is in progress.
   */
  readonly send: (frames: ReadonlyArray<string>) => Effect.Effect<void, TransportDisconnected>
  /** Received signals. The frames of each node are in the order in which it sent them. The transport begins connected. */
  readonly received: Queue.Dequeue<TransportSignal>
}

/** The connection to the other nodes is lost. */
export class TransportDisconnected extends Schema.TaggedError<TransportDisconnected>()("TransportDisconnected", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "The other nodes cannot be reached"
  }
}
