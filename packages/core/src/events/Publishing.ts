/** Publishing to whichever log, one event or many. */
import { Effect, type Schema } from "effect"
import { Caller } from "../access/Caller.ts"
import {
  BadRequest,
  type Forbidden,
  type NotFound,
  type PlanRequired,
  type StoreUnavailable
} from "../errors/Errors.ts"
import type { EnvId, RunId, StreamId } from "../ids/Ids.ts"
import { Quotas } from "../tenancy/Quotas.ts"
import { type SpanStart, traced, tracerOf } from "../tracing/Spans.ts"
import { parseTraceparent } from "../tracing/TraceContext.ts"
import type { Delay } from "./Delay.ts"
import type { Event } from "./Event.ts"
import type { EventLog, Publication } from "./EventLog.ts"
import { makePreparing, type Prepared } from "./Preparing.ts"

export interface NewEvent extends Delay {
  /** Free-form, 1 to 256 characters; `a:b:c` by convention; the prefix `svc:` is reserved. */
  readonly type: string
  readonly data: Schema.Json
  /** Appends to this stream; without it the event begins a new one. */
  readonly stream_id?: string
  /** The id of the stream that it begins, where somebody watches that already. */
  readonly newStream?: StreamId
  /** The run whose code publishes it. */
  readonly causedBy?: RunId
  /**
   * The client's name for this request, 1 to 255 visible ASCII characters: within 24 hours the same request publishes
   * once, and the others get its event. Another request by the same name is a `BadRequest`.
   */
  readonly idempotencyKey?: string
  /**
   * The span that it belongs to, as W3C Trace Context has it; by default the one that the caller is in. What is none is
   * passed over, and without a tracer all are.
   */
  readonly traceparent?: string
}

/** Events that one call may publish. */
const publishManyMax = 1_000

export type PublishError = Forbidden | BadRequest | PlanRequired | NotFound | StoreUnavailable

export interface Publishing {
  readonly one: (log: EventLog["Service"], input: NewEvent) => Effect.Effect<Event, PublishError, Caller>
  /** As `Events.publishMany`. */
  readonly many: (
    log: EventLog["Service"],
    inputs: ReadonlyArray<NewEvent>
  ) => Effect.Effect<ReadonlyArray<Event>, PublishError, Caller>
}

export const makePublishing = Effect.gen(function* () {
  const quotas = yield* Quotas
  const prepare = yield* makePreparing

  const admit = (envId: EnvId, publications: ReadonlyArray<Publication>) => {
    if (quotas.isUnlimited(envId)) return Effect.void
    // Where nothing is left, too, a schedule can be cancelled.
    const counted = publications.filter(({ schedule }) => schedule === undefined)
    return counted.length === 0 ? Effect.void : quotas.admit(envId, runsOf(counted))
  }

  const append = (log: EventLog["Service"], prepared: Prepared, { traceparent }: NewEvent) => {
    if ("earlier" in prepared) return Effect.succeed(prepared.earlier)
    const { publication } = prepared
    // Of two of the same key that came at once, what is stored may be the other.
    return traced(log.append(publication), () => publishSpan(publication, traceparent))
  }

  const appendAll = Effect.fnUntraced(function* (log: EventLog["Service"], prepared: ReadonlyArray<Prepared>) {
    const stored = yield* log.appendAll(prepared.flatMap((one) => ("earlier" in one ? [] : [one.publication])))
    let next = 0
    return prepared.flatMap((one) => ("earlier" in one ? one.earlier : (stored[next++] ?? [])))
  })

  const publishing: Publishing = {
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
      const prepared: Array<Prepared> = []
      for (const [index, input] of inputs.entries()) {
        prepared.push(yield* Effect.catchTag(prepare(log, caller, input), "BadRequest", at(index)))
      }
      yield* admit(
        caller.env_id,
        prepared.flatMap((one) => ("earlier" in one ? [] : one.publication))
      )
      // Each has a span of its own, where there is a tracer.
      if (!(yield* isTraced)) return yield* appendAll(log, prepared)
      const each = inputs.flatMap((input, index) => {
        const one = prepared[index]
        return one === undefined ? [] : [append(log, one, input)]
      })
      return yield* Effect.all(each, { concurrency: "unbounded" })
    })
  }
  return publishing
})

const isTraced = Effect.withFiber((fiber) => Effect.succeed(tracerOf(fiber) !== null))

const tooMany = new BadRequest({ reason: `events: at most ${publishManyMax} at once` })

/** Says which of many is meant. */
const at = (index: number) => (error: BadRequest) =>
  Effect.fail(new BadRequest({ reason: `events[${index}]: ${error.reason}` }))

const runsOf = (publications: ReadonlyArray<Publication>): number =>
  publications.reduce((runs, { matches }) => runs + matches.length, 0)

/** What the runs of the event are parts of. */
const publishSpan = ({ event, matches }: Publication, traceparent: string | undefined): SpanStart => {
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
