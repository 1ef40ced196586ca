/** Records as an embedding program sees them: JSON as values, not as text. */
import type { Schema } from "effect"
import type { Event } from "./events/Event.ts"
import { fromJsonText } from "./ids/JsonText.ts"
import type { Page } from "./ids/Page.ts"
import type { Run } from "./runs/Run.ts"

/** An event with its data as a value. */
export type HostEvent = Omit<Event, "event_data"> & { readonly event_data: Schema.Json }

/** A run with its result as a value; null while it runs. */
export type HostRun = Omit<Run, "result"> & { readonly result: Schema.Json }

export const hostEvent = (event: Event): HostEvent => ({ ...event, event_data: fromJsonText(event.event_data) })

export const hostRun = (run: Run): HostRun => ({
  ...run,
  result: run.result === null ? null : fromJsonText(run.result)
})

export const mapPage =
  <A, B>(f: (item: A) => B) =>
  (page: Page<A>): Page<B> => ({ items: page.items.map(f), total: page.total })
