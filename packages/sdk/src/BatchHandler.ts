/** Functions that handle several events in one run. */
import type { DurableMeta, DurableSvc } from "./Durable.ts"
import type { CheckedPattern, Event, Matched, PathOf } from "./Event.ts"
import type { Batch } from "./FlowControl.ts"
import { type BackgroundTerms, withMeta } from "./Meta.ts"
import type { InferInput, InferOutput, StandardSchemaV1, Unchecked } from "./StandardSchema.ts"
import type { BatchSvc } from "./Svc.ts"
import { validate } from "./validate.ts"

/** Options that may be combined with `batch`. */
type BatchTerms<Path extends string = string> = Omit<BackgroundTerms<Path>, "debounce" | "singleton" | "cancelOn">

export interface BatchOptions<Pattern extends string, Data extends StandardSchemaV1>
  extends BatchTerms<PathOf<InferInput<NoInfer<Data>>>> {
  /** An event type, a prefix that ends in `*`, or a list of these. */
  readonly event: CheckedPattern<Pattern> | ReadonlyArray<CheckedPattern<Pattern>>
  readonly batch: Batch
  /** Validates `event_data` of each event; invalid data of one fails the run with `Invalid`. */
  readonly data?: Data
}

export interface BatchMeta extends BatchTerms {
  readonly event: string | ReadonlyArray<string>
  readonly batch: Batch
}

/** A function as the runtime calls it, with 1 to `size` events before validation. */
export interface BatchHandler<In extends Event, Result> {
  (events: ReadonlyArray<In>, svc: BatchSvc): Promise<Result>
  readonly meta: BatchMeta
}

/** The services of a durable function that handles batches. */
export interface DurableBatchSvc extends Omit<DurableSvc, "event"> {
  /** The events as published. */
  readonly batch: ReadonlyArray<Event>
}

export interface DurableBatchHandler<In extends Event, Result> {
  (events: ReadonlyArray<In>, svc: DurableBatchSvc): Promise<Result>
  readonly meta: BatchMeta & { readonly durable: DurableMeta }
}

/**
 * Defines a function that handles several events in one run:
 *
 *     export const store = batchHandler({ event: "row:changed", batch: { size: 50, timeout: "5s" } }, (events, svc) => …)
 *
 * The run starts with `size` events, or `timeout` after the first one. All attempts have the same events.
 */
export const batchHandler = <const Pattern extends string, Result, Data extends StandardSchemaV1 = Unchecked>(
  { data, ...meta }: BatchOptions<Pattern, Data>,
  fn: (events: ReadonlyArray<Event<Matched<Pattern>, InferOutput<Data>>>, svc: BatchSvc) => Result | Promise<Result>
): BatchHandler<Event<Matched<Pattern>, InferInput<Data>>, Result> =>
  withMeta(
    async (events: ReadonlyArray<Event<Matched<Pattern>, InferInput<Data>>>, svc: BatchSvc): Promise<Result> =>
      fn(await validateAll(data, events), svc),
    meta
  )

/** As `batchHandler`, for a durable function. */
export const durableBatchHandler = <const Pattern extends string, Result, Data extends StandardSchemaV1 = Unchecked>(
  { data, strict, ...meta }: BatchOptions<Pattern, Data> & { readonly strict?: boolean },
  fn: (
    events: ReadonlyArray<Event<Matched<Pattern>, InferOutput<Data>>>,
    svc: DurableBatchSvc
  ) => Result | Promise<Result>
): DurableBatchHandler<Event<Matched<Pattern>, InferInput<Data>>, Result> => {
  const durable: DurableMeta = strict === undefined ? true : { strict }
  return withMeta(
    async (events: ReadonlyArray<Event<Matched<Pattern>, InferInput<Data>>>, svc: DurableBatchSvc): Promise<Result> =>
      fn(await validateAll(data, events), svc),
    { ...meta, durable }
  )
}

const validateAll = <Type extends string, Data extends StandardSchemaV1>(
  data: Data | undefined,
  events: ReadonlyArray<Event<Type, InferInput<Data>>>
): Promise<ReadonlyArray<Event<Type, InferOutput<Data>>>> =>
  Promise.all(
    events.map(async (event, index) => ({
      ...event,
      event_data: await validate(data, event.event_data, `event_data of event ${index}`)
    }))
  )
