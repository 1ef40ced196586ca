/** Functions of a project with a catalogue of events. */
import type { Catalogue, Event, EventsIn, EventsOf, KnownPattern, PathOf } from "./Event.ts"
import type { Handler, HandlerMeta } from "./Handler.ts"
import { type BackgroundTerms, withMeta } from "./Meta.ts"
import { type Schedules, schedule } from "./Schedule.ts"
import type { StandardSchemaV1 } from "./StandardSchema.ts"
import type { EventSvc } from "./Svc.ts"
import { type Tools, tool } from "./Tool.ts"
import { validate } from "./validate.ts"
import { type Webhooks, webhook } from "./Webhook.ts"

export interface KnownOptions<C extends Catalogue, Pattern extends string>
  extends BackgroundTerms<PathOf<EventsIn<C, NoInfer<Pattern>>["event_data"]>> {
  /** An event type of the catalogue, a prefix that ends in `*`, or a list of these. */
  readonly event: KnownPattern<C, Pattern> | ReadonlyArray<KnownPattern<C, Pattern>>
}

/** `handler`, `schedule`, `webhook` and `tool`, typed for a catalogue of events. */
export interface Kit<C extends Catalogue> {
  /** Validates `event_data` with the schema of the event's type. */
  readonly handler: <const Pattern extends (keyof C & string) | `${string}*`, Result>(
    on: KnownPattern<C, Pattern> | ReadonlyArray<KnownPattern<C, Pattern>> | KnownOptions<C, Pattern>,
    fn: (event: EventsOf<C, Pattern>, svc: EventSvc<C>) => Result | Promise<Result>
  ) => Handler<EventsIn<C, Pattern>, Result, C>
  readonly schedule: Schedules<C>
  readonly webhook: Webhooks<C>
  readonly tool: Tools<C>
}

/**
 * Returns the triggers of a project with a catalogue of events. Handlers receive typed and validated events, and
 * `svc.events.publish` accepts only these:
 *
 *     export const { handler, schedule, webhook, tool } = defineEvents({ "order:created": Order, "order:paid": Paid })
 */
export function defineEvents<const C extends Catalogue>(catalogue: C): Kit<C>
export function defineEvents(catalogue: Catalogue): UntypedKit {
  return {
    handler: (on, fn) => {
      const meta = typeof on === "object" && "event" in on ? on : { event: on }
      const run = async (event: Event, svc: EventSvc): Promise<unknown> => {
        const schema = Object.hasOwn(catalogue, event.event_type) ? catalogue[event.event_type] : unknownEvent
        return fn({ ...event, event_data: await validate(schema, event.event_data, event.event_type) }, svc)
      }
      return withMeta(run, meta)
    },
    schedule,
    webhook,
    tool
  }
}

interface UntypedKit {
  readonly handler: (
    on: string | ReadonlyArray<string> | HandlerMeta,
    fn: (event: Event, svc: EventSvc) => unknown
  ) => Handler<Event, unknown>
  readonly schedule: Schedules
  readonly webhook: Webhooks
  readonly tool: Tools
}

/** Schema for a type that matches a prefix but is not in the catalogue. */
const unknownEvent: StandardSchemaV1 = {
  "~standard": { version: 1, vendor: "weft", validate: () => ({ issues: [{ message: "it is not in the catalogue" }] }) }
}
