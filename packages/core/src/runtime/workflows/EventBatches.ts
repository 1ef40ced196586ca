/** Batches of events that reach waits together. */
import type { Array as Arr } from "effect"
import type { Event } from "../events/Event.ts"

/** Maximum events of a batch, and maximum characters of their data. To parse and compare them takes one turn. */
const eventsMax = 100
const lengthMax = 256 * 1024

/**
 * Divides events of one environment into batches of one type each, in the order of their first events. Events of a type keep
 * their order. An event of any size has a batch.
 */
export const toBatches = <Each extends Pick<Event, "event_type" | "event_data">>(
  events: Iterable<Each>
): ReadonlyArray<Arr.NonEmptyReadonlyArray<Each>> => {
  const batches: Array<Arr.NonEmptyArray<Each>> = []
  const latest = new Map<string, { readonly batch: Array<Each>; length: number }>()
  for (const event of events) {
    const { length } = event.event_data
    const current = latest.get(event.event_type)
    if (current !== undefined && current.batch.length < eventsMax && current.length + length <= lengthMax) {
      current.batch.push(event)
      current.length += length
      continue
    }
    const batch: Arr.NonEmptyArray<Each> = [event]
    batches.push(batch)
    latest.set(event.event_type, { batch, length })
  }
  return batches
}
