/** The rules of publishing, whichever log the event goes to. Permission first. */
import { Effect, Schema } from "effect"
import { Digest } from "effect/crypto"
import { requirePermission } from "../access/Caller.ts"
import { Deployments } from "../builds/Deployments.ts"
import { BadRequest } from "../errors/Errors.ts"
import { EventId, freshIds, type RunId, StreamId } from "../ids/Ids.ts"
import { type JsonText, toJsonText } from "../ids/JsonText.ts"
import { isStorable } from "../ids/StorableText.ts"
import { now as currentTime } from "../ids/Timestamp.ts"
import { utf8Encode } from "../ids/Utf8.ts"
import { Quotas } from "../tenancy/Quotas.ts"
import { type SpanStart, traced } from "../tracing/Spans.ts"
import { parseTraceparent } from "../tracing/TraceContext.ts"
import { type Delay, happensAt } from "./Delay.ts"
import type { Event } from "./Event.ts"
import type { EventLog, OnceRequest } from "./EventLog.ts"
import { isSystemType, SystemEvents } from "./SystemEvents.ts"

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

const typeLengthMax = 256

export const makePublishing = Effect.gen(function* () {
  const deployments = yield* Deployments
  const system = yield* SystemEvents
  const quotas = yield* Quotas
  const fresh = yield* freshIds
  const requestOf = yield* makeRequestOf

  return Effect.fnUntraced(function* (log: EventLog["Service"], input: NewEvent) {
    const caller = yield* requirePermission("event", input.type, "create")
    yield* checkType(input.type)
    const stream_id =
      input.stream_id === undefined
        ? (input.newStream ?? (yield* fresh(StreamId)))
        : yield* decodeStreamId(input.stream_id)
    const instant = yield* currentTime
    const event = {
      event_id: yield* fresh(EventId),
      env_id: caller.env_id,
      stream_id,
      event_type: input.type,
      event_data: toJsonText(input.data),
      event_time: yield* happensAt(input, instant),
      created_at: instant
    }
    const request = input.idempotencyKey === undefined ? null : yield* requestOf(input, event.event_data)
    const earlier = request === null ? null : yield* log.earlier(caller.env_id, request)
    if (earlier !== null) return earlier
    const { matches, schedule } = isSystemType(input.type)
      ? yield* system.plan(event, input.data)
      : { matches: (yield* deployments.of(caller.env_id)).matches(input.type), schedule: null }
    if (schedule !== null && event.event_time > instant) return yield* notLater
    yield* quotas.admit(caller.env_id, matches.length)
    const append = log.append({
      ...{ event, matches, causedBy: input.causedBy ?? null, request },
      beginsStream: input.stream_id === undefined,
      ...(schedule === null ? {} : { schedule })
    })
    const stored = yield* traced(append, () => publishSpan(event, matches.length, input.traceparent))
    // Of two of the same key that came at once, this may be the other.
    return stored
  })
})

/** What the runs of the event are parts of. */
const publishSpan = ({ env_id, event_id, event_type }: Event, deliveries: number, traceparent?: string): SpanStart => {
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
      "weft.deliveries": deliveries
    },
    ...(parent === null ? {} : { parent })
  }
}

/** Schedules say themselves when. */
const notLater = new BadRequest({ reason: "delay and deliver_at: schedules are made and cancelled at once" })

const checkType = (type: string): Effect.Effect<void, BadRequest> => {
  if (type.length === 0 || type.length > typeLengthMax) {
    return Effect.fail(new BadRequest({ reason: `event_type must have 1 to ${typeLengthMax} characters` }))
  }
  return isStorable(type) ? Effect.void : unstorableType
}

const unstorableType = Effect.fail(new BadRequest({ reason: "event_type must be valid Unicode, without U+0000" }))

const decodeStreamId = (text: string): Effect.Effect<StreamId, BadRequest> =>
  isStreamId(text) ? Effect.succeed(text) : Effect.fail(new BadRequest({ reason: "stream_id must be a UUID" }))

const isStreamId = Schema.is(StreamId)

const isRequestKey = (key: string): boolean => /^[\x21-\x7e]{1,255}$/.test(key)

/** What tells a request with a key from others: all that it asks for. */
const makeRequestOf = Effect.map(
  Digest.Digest,
  (digest) =>
    ({ idempotencyKey: key = "", type, stream_id, delay, deliver_at }: NewEvent, data: JsonText) =>
      Effect.gen(function* (): Effect.fn.Return<OnceRequest, BadRequest> {
        if (!isRequestKey(key)) {
          return yield* new BadRequest({ reason: "Idempotency-Key must be 1 to 255 visible ASCII characters" })
        }
        const asked = JSON.stringify([type, stream_id, delay, deliver_at, data])
        return { key, digest: yield* digest.digestHex(Digest.sha256, utf8Encode(asked)) }
      })
)
