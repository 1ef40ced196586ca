/** Records for the host, with JSON as values instead of text. */
import type { Schema } from "effect"
import { fromJsonText } from "../foundation/JsonText.ts"
import type { Page } from "../foundation/Page.ts"
import type { Event } from "../runtime/events/Event.ts"
import type { Run } from "../runtime/runs/Run.ts"
import { parseWaiting, type Waiting } from "../runtime/runs/Workflow.ts"

/** An event with its data as a JSON value. */
export type HostEvent = Omit<Event, "event_data"> & { readonly event_data: Schema.Json }

/** A run with its result as a JSON value; null while it runs. */
export type HostRun = Omit<Run, "result" | "waiting"> & {
  readonly result: Schema.Json
  readonly waiting: Waiting | null
}

export const hostEvent = (event: Event): HostEvent => ({ ...event, event_data: fromJsonText(event.event_data) })

export const hostRun = (run: Run): HostRun => ({
  ...run,
  result: run.result === null ? null : fromJsonText(run.result),
  waiting: run.waiting === null ? null : parseWaiting(run.waiting)
})

export const mapPage =
  <A, B>(f: (item: A) => B) =>
  (page: Page<A>): Page<B> => ({ items: page.items.map(f), total: page.total })
