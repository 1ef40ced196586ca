/** Functions that handle events. */
import type { AnyEvents, Catalogue, CheckedPattern, Event, Matched, PathOf } from "./Event.ts"
import { type BackgroundTerms, withMeta } from "./Meta.ts"
import type { InferInput, InferOutput, StandardSchemaV1, Unchecked } from "./StandardSchema.ts"
import type { EventSvc } from "./Svc.ts"
import { validate } from "./validate.ts"

export interface HandlerOptions<Pattern extends string, Data extends StandardSchemaV1>
  extends BackgroundTerms<PathOf<InferInput<NoInfer<Data>>>> {
  /** An event type, a prefix that ends in `*`, or a list of these. An event is handled once, even if several match. */
  readonly event: CheckedPattern<Pattern> | ReadonlyArray<CheckedPattern<Pattern>>
  /** Validates `event_data`; invalid data fails the run with `Invalid`. */
  readonly data?: Data
}

export interface HandlerMeta extends BackgroundTerms {
  readonly event: string | ReadonlyArray<string>
}

/** A handler as the runtime calls it. `In` is the event before validation. */
export interface Handler<In extends Event, Result, Events extends Catalogue = AnyEvents> {
  (event: In, svc: EventSvc<Events>): Promise<Result>
  readonly meta: HandlerMeta
}

/**
 * Defines a function that handles events:
 *
 *     export const onOrder = handler({ event: "order:created", data: Order, retry: { attempts: 3 } }, (event, svc) => …)
 *
 * @param on an event type, a prefix that ends in `*`, a list of these, or options.
 */
export const handler = <const Pattern extends string, Result, Data extends StandardSchemaV1 = Unchecked>(
  on: CheckedPattern<Pattern> | ReadonlyArray<CheckedPattern<Pattern>> | HandlerOptions<Pattern, Data>,
  fn: (event: Event<Matched<Pattern>, InferOutput<Data>>, svc: EventSvc) => Result | Promise<Result>
): Handler<Event<Matched<Pattern>, InferInput<Data>>, Result> => {
  const { data, ...meta }: HandlerOptions<Pattern, Data> = typeof on === "object" && "event" in on ? on : { event: on }
  const run = async (event: Event<Matched<Pattern>, InferInput<Data>>, svc: EventSvc): Promise<Result> =>
    fn({ ...event, event_data: await validate(data, event.event_data, "event_data") }, svc)
  return withMeta(run, meta)
}
