/** Records for the host, with JSON as values instead of text. */
import type { Schema } from "effect"
import type { EventId } from "../foundation/Ids.ts"
import { fromJsonText } from "../foundation/JsonText.ts"
import type { Page } from "../foundation/Page.ts"
import type { Event } from "../runtime/events/Event.ts"
import { parseEventIds } from "../runtime/runs/EventBatch.ts"
import type { Run } from "../runtime/runs/Run.ts"
import { parseWaiting, type StepRecord, type Waiting } from "../runtime/runs/Workflow.ts"

/** An event with its data as a JSON value. */
export type HostEvent = Omit<Event, "event_data"> & { readonly event_data: Schema.Json }

/** A run with its result as a JSON value; null while it runs. */
export type HostRun = Omit<Run, "result" | "waiting" | "event_ids"> & {
  /** All events of a batch in their order; null for a single event. */
  readonly event_ids: ReadonlyArray<EventId> | null
  readonly result: Schema.Json
  readonly waiting: Waiting | null
}

export const hostEvent = (event: Event): HostEvent => ({ ...event, event_data: fromJsonText(event.event_data) })

export const hostRun = (run: Run): HostRun => ({
  ...run,
  event_ids: run.event_ids === null ? null : parseEventIds(run.event_ids),
  result: run.result === null ? null : fromJsonText(run.result),
  waiting: run.waiting === null ? null : parseWaiting(run.waiting)
})

/** A step with its result as a JSON value. */
export type HostStep = Omit<StepRecord, "result"> & {
  /** Null without a result, and if it is a secret. If `ok` is false, the error as `{name, message, stack}`. */
  readonly result: Schema.Json
}

export const hostStep = (step: StepRecord): HostStep => ({
  ...step,
  result: step.result === null ? null : fromJsonText(step.result)
})

export const mapPage =
  <A, B>(f: (item: A) => B) =>
  (page: Page<A>): Page<B> => ({ items: page.items.map(f), total: page.total })
