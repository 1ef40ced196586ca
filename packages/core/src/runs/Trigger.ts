/** How a delivery's event reaches its function (decisions 5.3). Pure. */
import type { Event } from "../events/Event.ts"
import { iso } from "../ids/Timestamp.ts"
import type { Invocation } from "../sandbox/Sandbox.ts"

export interface Trigger {
  readonly trigger: Invocation["trigger"]
  /** JSON text of `svc` without `run`. */
  readonly facts: string
}

/**
 * - `svc:call`, and a tick of a dynamic schedule: the function gets the elements of `event_data.args`.
 * - `svc:schedule` of a static schedule: it gets the tick, which is `event_data` without `fn`.
 * - Any other event: it gets the event.
 */
export const triggerOf = (event: Event): Trigger => {
  const facts = `{"event":${eventText(event)},"caller":null`
  switch (event.event_type) {
    case "svc:call":
      return { trigger: "args", facts: `${facts},"args":${argsOf(event)}}` }
    case "svc:schedule": {
      const { fn, ...tick } = dataOf(event)
      return "args" in tick
        ? { trigger: "args", facts: `${facts},"args":${argsOf(event)}}` }
        : { trigger: "tick", facts: `${facts},"tick":${JSON.stringify(tick)}}` }
    }
    default:
      return { trigger: "event", facts: `${facts}}` }
  }
}

/** Written out: only the type may have something to escape. */
const eventText = ({ event_id, env_id, stream_id, event_type, event_data, event_time, created_at }: Event): string => {
  const created = iso(created_at)
  const happened = event_time === created_at ? created : iso(event_time)
  const ids = `"event_id":"${event_id}","env_id":"${env_id}","stream_id":"${stream_id}"`
  const times = `"event_time":"${happened}","created_at":"${created}"`
  return `{${ids},"event_type":${JSON.stringify(event_type)},${times},"event_data":${event_data}}`
}

/** Made by us, or checked when it was published. */
const dataOf = (event: Event): { readonly fn?: unknown; readonly args?: unknown } => JSON.parse(event.event_data)

const argsOf = (event: Event): string => JSON.stringify(dataOf(event).args ?? [])
