/** Publishes one event or many to any log. */
import { Effect, type Schema } from "effect"
import {
  BadRequest,
  type Forbidden,
  type NotFound,
  type PlanRequired,
  type RateLimited,
  type StoreUnavailable
} from "../../foundation/Errors.ts"
import type { EnvId, EventId, StreamId } from "../../foundation/Ids.ts"
import { type SpanStart, traced, tracerOf } from "../../foundation/telemetry/Spans.ts"
import { parseTraceparent } from "../../foundation/telemetry/TraceContext.ts"
import { Caller } from "../../tenants/access/Caller.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import type { ChainedRun } from "./Cause.ts"
import type { Delay } from "./Delay.ts"
import type { Event } from "./Event.ts"
import type { EventLog, Publication } from "./EventLog.ts"
import { makePrepareEvent, type PreparedEvent } from "./prepareEvent.ts"

export interface NewEvent extends Delay {
  /** Type of 1 to 256 characters, by convention `a:b:c`. The prefix `svc:` is reserved. */
  readonly type: string
  readonly data: Schema.Json
  /** Stream of the event; without it the event begins a new one. */
  readonly stream_id?: string
  /** Id of the event, if a record already names it. */
  readonly event_id?: EventId
  /** Id of the new stream, if a client already subscribed to it. */
  readonly newStream?: StreamId
  /** Run whose code publishes the event. The event is one deeper in the run's chain. */
  readonly causedBy?: ChainedRun
  /**
   * Idempotency key, 1 to 255 visible ASCII characters. Within 24 hours, repeated requests publish once and return the
   * same event. A different request with the same key fails with `BadRequest`.
   */
  readonly idempotencyKey?: string
  /**
   * Parent span in W3C Trace Context format; the caller's span by default. Invalid text is ignored, and so is every value
   * without a tracer.
   */
  readonly traceparent?: string
}

/** Maximum events per call. */
const publishManyMax = 1_000

export type PublishError = Forbidden | BadRequest | PlanRequired | RateLimited | NotFound | StoreUnavailable

export interface PublishEvent {
  readonly one: (log: EventLog["Service"], input: NewEvent) => Effect.Effect<Event, PublishError, Caller>
  /** As `Events.publishMany`. */
  readonly many: (
    log: EventLog["Service"],
    inputs: ReadonlyArray<NewEvent>
  ) => Effect.Effect<ReadonlyArray<Event>, PublishError, Caller>
}

export const makePublishEvent = Effect.gen(function* () {
  const quotas = yield* Quotas
  const prepare = yield* makePrepareEvent

  const admit = (envId: EnvId, publications: ReadonlyArray<Publication>) => {
    const runs = countRuns(publications)
    const created = publications.filter(({ schedule }) => schedule?._tag === "Created").length
    const inChain = admitInChain(envId, publications)
    const admitted = created === 0 ? inChain : Effect.andThen(quotas.admitSchedules(envId, created), inChain)
    if (runs === 0 || quotas.allowsPending(envId, runs)) return admitted
    return Effect.andThen(quotas.admitPending(envId, runs), admitted)
  }

  const admitInChain = (envId: EnvId, publications: ReadonlyArray<Publication>) => {
    const depth = findDepth(publications)
    const isAllowed = depth === 0 || quotas.allowsDepth(envId, depth)
    return isAllowed ? admitRuns(envId, publications) : admitChained(envId, depth, publications)
  }

  const admitRuns = (envId: EnvId, publications: ReadonlyArray<Publication>) =>
    publications.some(startsDurable)
      ? Effect.andThen(quotas.admitDurable(envId), countedRuns(envId, publications))
      : countedRuns(envId, publications)

  const countedRuns = (envId: EnvId, publications: ReadonlyArray<Publication>) => {
    if (quotas.isUnlimited(envId)) return Effect.void
    // Schedules can be cancelled even if the quota is used up.
    const counted = publications.filter(({ schedule }) => schedule === undefined)
    return counted.length === 0 ? Effect.void : quotas.admit(envId, countRuns(counted))
  }

  const admitChained = (envId: EnvId, depth: number, publications: ReadonlyArray<Publication>) =>
    Effect.andThen(quotas.admitDepth(envId, depth), admitRuns(envId, publications))

  const append = (log: EventLog["Service"], prepared: PreparedEvent, { traceparent }: NewEvent) => {
    if ("earlier" in prepared) return Effect.succeed(prepared.earlier)
    const { publication } = prepared
    // Of two concurrent requests with the same key, the stored event may be that of the other.
    return traced(log.append(publication), () => buildPublishSpan(publication, traceparent))
  }

  const appendAll = Effect.fnUntraced(function* (log: EventLog["Service"], prepared: ReadonlyArray<PreparedEvent>) {
    const stored = yield* log.appendAll(prepared.flatMap((one) => ("earlier" in one ? [] : [one.publication])))
    let next = 0
    return prepared.flatMap((one) => ("earlier" in one ? one.earlier : (stored[next++] ?? [])))
  })

  const publishEvent: PublishEvent = {
    one: Effect.fnUntraced(function* (log, input) {
      const caller = yield* Caller
      const prepared = yield* prepare(log, caller, input)
      if ("earlier" in prepared) return prepared.earlier
      yield* admit(caller.env_id, [prepared.publication])
      return yield* append(log, prepared, input)
    }),

    many: Effect.fnUntraced(function* (log, inputs) {
      if (inputs.length > publishManyMax) return yield* tooMany
      const caller = yield* Caller
      const prepared: Array<PreparedEvent> = []
      for (const [index, input] of inputs.entries()) {
        prepared.push(yield* Effect.catchTag(prepare(log, caller, input), "BadRequest", atIndex(index)))
      }
      yield* admit(
        caller.env_id,
        prepared.flatMap((one) => ("earlier" in one ? [] : one.publication))
      )
      // With a tracer, each event has a span of its own.
      if (!(yield* isTraced)) return yield* appendAll(log, prepared)
      const each = inputs.flatMap((input, index) => {
        const one = prepared[index]
        return one === undefined ? [] : [append(log, one, input)]
      })
      return yield* Effect.all(each, { concurrency: "unbounded" })
    })
  }
  return publishEvent
})

const isTraced = Effect.withFiber((fiber) => Effect.succeed(tracerOf(fiber) !== null))

const tooMany = new BadRequest({ reason: `events: at most ${publishManyMax} at once` })

/** Adds the index of the event to an error. */
const atIndex = (index: number) => (error: BadRequest) =>
  Effect.fail(new BadRequest({ reason: `events[${index}]: ${error.reason}` }))

/** Returns the depth of the deepest event; 0 for events from outside. An event that cancels schedules continues no chain. */
const findDepth = (publications: ReadonlyArray<Publication>): number =>
  publications.reduce(
    (deepest, { cause, schedule }) => (schedule?._tag === "Cancelled" ? deepest : Math.max(deepest, cause.depth)),
    0
  )

const startsDurable = ({ matches }: Publication): boolean => matches.some(({ handler }) => handler.durable)

const countRuns = (publications: ReadonlyArray<Publication>): number =>
  publications.reduce((runs, { matches }) => runs + matches.length, 0)

/** Returns the span of a publication, the parent of the event's runs. */
const buildPublishSpan = ({ event, matches }: Publication, traceparent: string | undefined): SpanStart => {
  const { env_id, event_id, event_type } = event
  const parent = traceparent === undefined ? null : parseTraceparent(traceparent)
  return {
    name: `publish ${event_type}`,
    kind: "producer",
    attributes: {
      "messaging.system": "weft",
      "messaging.operation.type": "send",
      "messaging.destination.name": event_type,
      "messaging.message.id": event_id,
      "weft.env_id": env_id,
      "weft.deliveries": matches.length
    },
    ...(parent === null ? {} : { parent })
  }
}
