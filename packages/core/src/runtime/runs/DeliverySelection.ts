/** Selections of pending deliveries, which wait for an attempt. */
import type { DeliveryId, EventId, ProjectId, StreamId } from "../../foundation/Ids.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"

/** Selects pending deliveries of an environment, also parked ones. Each field restricts the selection. */
export interface DeliverySelection {
  readonly projectId?: ProjectId
  /** Id of the project, or its name when the event was published. */
  readonly project?: string
  readonly eventType?: string
  /** Only calls by this event. */
  readonly callBy?: EventId
  /** Lists of function names: `ns/var`, or `project:ns/var`. Only deliveries of a function in every list. */
  readonly functions?: ReadonlyArray<ReadonlyArray<string>>
  /** Only deliveries with lesser ids, which are those that were published before. */
  readonly before?: DeliveryId
}

/** Position of a delivery in the queue of its environment. */
export interface DeliveryPosition {
  readonly due_at: Timestamp
  readonly delivery_id: DeliveryId
}

/** A discarded delivery, and the group key that it had. */
export interface DiscardedDelivery {
  readonly delivery_id: DeliveryId
  readonly event_id: EventId
  readonly stream_id: StreamId
  readonly event_type: string
  readonly group: string | null
}

export interface DiscardResult {
  readonly discarded: ReadonlyArray<DiscardedDelivery>
  /** Position of the last delivery that was examined; null at the end of the queue. */
  readonly next: DeliveryPosition | null
}
