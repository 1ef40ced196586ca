/** Checks an event and prepares its publication for any log. Checks permission first. */
import { Clock, Effect, type Schema } from "effect"
import { Digest } from "effect/crypto"
import { BadRequest, type Forbidden, type StoreUnavailable } from "../../foundation/Errors.ts"
import { EventId, freshIdsNow, idReader, StreamId } from "../../foundation/Ids.ts"
import { type JsonText, toJsonText } from "../../foundation/JsonText.ts"
import { isStorable } from "../../foundation/StorableText.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { utf8Encode } from "../../foundation/Utf8.ts"
import { Deployments } from "../../resources/builds/Deployments.ts"
import { type Caller, type Identity, requirePermission } from "../../tenants/access/Caller.ts"
import { allows } from "../../tenants/access/Permission.ts"
import { toCause } from "./Cause.ts"
import { resolveEventTime } from "./Delay.ts"
import type { Event } from "./Event.ts"
import { EventExpressions } from "./EventExpressions.ts"
import type { EventLog, OnceRequest, Publication } from "./EventLog.ts"
import type { NewEvent } from "./publishEvent.ts"
import { isSystemType, SystemEvents } from "./SystemEvents.ts"

/** A publication to store, or the event of an earlier request with the same key. */
export type PreparedEvent = { readonly publication: Publication } | { readonly earlier: Event }

const typeLengthMax = 256

/** Returns a function that checks an event and prepares its publication; stores nothing. */
export const makePrepareEvent = Effect.gen(function* () {
  const deployments = yield* Deployments
  const system = yield* SystemEvents
  const expressions = yield* EventExpressions
  const fresh = yield* freshIdsNow
  const clock = yield* Clock.Clock
  const toRequest = yield* makeToRequest

  const toEvent = (caller: Identity, input: NewEvent, streamId: StreamId | undefined): Event => {
    const instant = Timestamp.make(clock.currentTimeMillisUnsafe(), { disableChecks: true })
    return {
      event_id: input.event_id ?? fresh(EventId),
      env_id: caller.env_id,
      stream_id: streamId ?? input.newStream ?? fresh(StreamId),
      event_type: input.type,
      event_data: toJsonText(input.data),
      event_time: instant,
      created_at: instant
    }
  }

  /** Prepares most events without an effect; null if the event needs more checks or queries, or is invalid. */
  const prepareFast = (caller: Identity, input: NewEvent): Publication | null => {
    const { type, stream_id } = input
    const deployed = deployments.getCached(caller.env_id)
    if (deployed === undefined || isSystemType(type) || hasConditions(input)) return null
    if (!allows(caller.permissions, "event", type, "create") || findFault(type) !== null) return null
    const streamId = stream_id === undefined ? undefined : readStreamId(stream_id)
    if (streamId === null) return null
    const matches = deployed.matches(type)
    if (deployed.cancels(type).length > 0) return null
    if (matches.some(({ condition }) => condition !== undefined)) return null
    const event = toEvent(caller, input, streamId)
    return {
      event,
      matches,
      cause: toCause(input.causedBy),
      beginsStream: stream_id === undefined,
      request: null
    }
  }

  const makePlan = Effect.fnUntraced(function* (event: Event, data: Schema.Json, depth: number) {
    if (!isSystemType(event.event_type)) {
      const deployed = yield* deployments.of(event.env_id)
      const matches = yield* expressions.select(event, deployed.matches(event.event_type))
      const cancels = yield* expressions.select(event, deployed.cancels(event.event_type))
      return cancels.length === 0 ? { matches } : { matches, cancels }
    }
    const { matches, schedule } = yield* system.plan({ ...event, depth }, data)
    if (schedule === null) return { matches }
    if (event.event_time > event.created_at) return yield* noDelay
    return { matches, schedule }
  })

  const prepareFully = Effect.fnUntraced(function* (
    log: EventLog["Service"],
    input: NewEvent
  ): Effect.fn.Return<PreparedEvent, Forbidden | BadRequest | StoreUnavailable, Caller> {
    const caller = yield* requirePermission("event", input.type, "create")
    const fault = findFault(input.type)
    if (fault !== null) return yield* new BadRequest({ reason: fault })
    const streamId = input.stream_id === undefined ? undefined : yield* decodeStreamId(input.stream_id)
    const made = toEvent(caller, input, streamId)
    const event = { ...made, event_time: yield* resolveEventTime(input, made.created_at) }
    const request = input.idempotencyKey === undefined ? null : yield* toRequest(input, event.event_data)
    const earlier = request === null ? null : yield* log.earlier(caller.env_id, request)
    if (earlier !== null) return { earlier }
    const cause = toCause(input.causedBy)
    const plan = yield* makePlan(event, input.data, cause.depth)
    const beginsStream = input.stream_id === undefined
    return { publication: { ...plan, event, cause, beginsStream, request } }
  })

  return (log: EventLog["Service"], caller: Identity, input: NewEvent) => {
    const publication = prepareFast(caller, input)
    return publication === null ? prepareFully(log, input) : Effect.succeed<PreparedEvent>({ publication })
  }
})

const hasConditions = ({ idempotencyKey, delay, deliver_at }: NewEvent): boolean =>
  idempotencyKey !== undefined || delay !== undefined || deliver_at !== undefined

/** Events that change schedules cannot be delayed: a schedule has times of its own. */
const noDelay = new BadRequest({
  reason: "delay and deliver_at: events that create or cancel schedules cannot be delayed"
})

/** Returns the error of an event type, or null. */
const findFault = (type: string): string | null => {
  if (type.length === 0 || type.length > typeLengthMax) return `event_type must have 1 to ${typeLengthMax} characters`
  return isStorable(type) ? null : "event_type must be valid Unicode, without U+0000"
}

const decodeStreamId = (text: string): Effect.Effect<StreamId, BadRequest> => {
  const streamId = readStreamId(text)
  return streamId === null
    ? Effect.fail(new BadRequest({ reason: "stream_id must be a UUID" }))
    : Effect.succeed(streamId)
}

const readStreamId = idReader(StreamId)

/** True if the text can be the idempotency key of a request. */
export const isRequestKey = (key: string): boolean => /^[\x21-\x7e]{1,255}$/.test(key)

/** Returns a function that builds an idempotent request with the digest of all its fields. */
const makeToRequest = Effect.map(
  Digest.Digest,
  (digest) =>
    ({ idempotencyKey: key = "", type, stream_id, delay, deliver_at }: NewEvent, data: JsonText) =>
      Effect.gen(function* (): Effect.fn.Return<OnceRequest, BadRequest> {
        if (!isRequestKey(key)) {
          return yield* new BadRequest({ reason: "Idempotency-Key must be 1 to 255 visible ASCII characters" })
        }
        const content = JSON.stringify([type, stream_id, delay, deliver_at, data])
        return { key, digest: yield* digest.digestHex(Digest.sha256, utf8Encode(content)) }
      })
)
