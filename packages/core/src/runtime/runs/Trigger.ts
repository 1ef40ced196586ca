/** The arguments of a delivery's function, from its event (decisions 5.3). Pure. */
import { JsonText } from "../../foundation/JsonText.ts"
import { iso } from "../../foundation/time/Timestamp.ts"
import type { Invocation } from "../../platform/sandbox/Sandbox.ts"
import type { Event } from "../events/Event.ts"

export interface Trigger {
  readonly trigger: Invocation["trigger"]
  /** JSON text of `svc` without `run`. */
  readonly facts: string
}

/**
 * Returns the trigger of an event.
 *
 * - `svc:call`, and a tick of a dynamic schedule: the arguments are the elements of `event_data.args`.
 * - `svc:schedule` of a static schedule: the argument is the tick, which is `event_data` without `fn`.
 * - Any other event: the argument is the event.
 * - A batch: the argument is the array of its events.
 */
export const buildTrigger = ({
  event,
  events
}: {
  readonly event: Event
  readonly events?: ReadonlyArray<Event>
}): Trigger => {
  if (events !== undefined)
    return { trigger: "batch", facts: `{"batch":[${events.map(formatEvent).join(",")}],"caller":null}` }
  const facts = `{"event":${formatEvent(event)},"caller":null`
  switch (event.event_type) {
    case "svc:call":
      return { trigger: "args", facts: `${facts},"args":${formatArgs(event)}}` }
    case "svc:schedule": {
      const { fn, ...tick } = readData(event)
      return "args" in tick
        ? { trigger: "args", facts: `${facts},"args":${formatArgs(event)}}` }
        : { trigger: "tick", facts: `${facts},"tick":${JSON.stringify(tick)}}` }
    }
    default:
      return { trigger: "event", facts: `${facts}}` }
  }
}

/** Returns the JSON text of an event. Only the type may need escapes. */
export const formatEvent = ({
  event_id,
  env_id,
  stream_id,
  event_type,
  event_data,
  event_time,
  created_at
}: Event): JsonText => {
  const created = iso(created_at)
  const eventTime = event_time === created_at ? created : iso(event_time)
  const ids = `"event_id":"${event_id}","env_id":"${env_id}","stream_id":"${stream_id}"`
  const times = `"event_time":"${eventTime}","created_at":"${created}"`
  return JsonText.make(`{${ids},"event_type":${JSON.stringify(event_type)},${times},"event_data":${event_data}}`, {
    disableChecks: true
  })
}

/** Reads event data that Weft made, or checked when it was published. */
const readData = (event: Event): { readonly fn?: unknown; readonly args?: unknown } => JSON.parse(event.event_data)

const formatArgs = (event: Event): string => JSON.stringify(readData(event).args ?? [])
