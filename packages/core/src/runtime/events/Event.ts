/** A stored event. Its publication creates a delivery for each matching handler. */
import { Schema } from "effect"
import { EnvId, EventId, StreamId } from "../../foundation/Ids.ts"
import { JsonText } from "../../foundation/JsonText.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"

export const Event = Schema.Struct({
  event_id: EventId,
  env_id: EnvId,
  stream_id: StreamId,
  event_type: Schema.String,
  event_data: JsonText,
  /** Time of the event; deliveries are due then. */
  event_time: Timestamp,
  /** Time of its publication. */
  created_at: Timestamp
})
export type Event = typeof Event.Type
