/** Events: what happened, told to the handlers that wait for it. */
import { Schema } from "effect"
import { EnvId, EventId, StreamId } from "../ids/Ids.ts"
import { JsonText } from "../ids/JsonText.ts"
import { Timestamp } from "../ids/Timestamp.ts"

export const Event = Schema.Struct({
  event_id: EventId,
  env_id: EnvId,
  stream_id: StreamId,
  event_type: Schema.String,
  event_data: JsonText,
  /** When it happened. */
  event_time: Timestamp,
  /** When it was stored. */
  created_at: Timestamp
})
export type Event = typeof Event.Type
