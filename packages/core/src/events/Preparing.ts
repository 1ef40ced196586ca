/** What a published event is to become: its rules, whichever log it goes to. Permission first. */
import { Clock, Effect, type Schema } from "effect"
import { Digest } from "effect/crypto"
import { type Caller, type Identity, requirePermission } from "../access/Caller.ts"
import { allows } from "../access/Permission.ts"
import { Deployments } from "../builds/Deployments.ts"
import { BadRequest, type Forbidden, type StoreUnavailable } from "../errors/Errors.ts"
import { EventId, freshIdsNow, idReader, StreamId } from "../ids/Ids.ts"
import { type JsonText, toJsonText } from "../ids/JsonText.ts"
import { isStorable } from "../ids/StorableText.ts"
import { Timestamp } from "../ids/Timestamp.ts"
import { utf8Encode } from "../ids/Utf8.ts"
import { happensAt } from "./Delay.ts"
import type { Event } from "./Event.ts"
import type { EventLog, OnceRequest, Publication } from "./EventLog.ts"
import type { NewEvent } from "./Publishing.ts"
import { isSystemType, SystemEvents } from "./SystemEvents.ts"

/** To be stored; or the event that an earlier request of the same key has stored. */
export type Prepared = { readonly publication: Publication } | { readonly earlier: Event }

const typeLengthMax = 256

/** Checks an event and finds what is to be done for it; stores nothing. */
export const makePreparing = Effect.gen(function* () {
  const deployments = yield* Deployments
  const system = yield* SystemEvents
  const fresh = yield* freshIdsNow
  const clock = yield* Clock.Clock
  const requestOf = yield* makeRequestOf

  const eventOf = (caller: Identity, input: NewEvent, streamId: StreamId | undefined): Event => {
    const instant = Timestamp.make(clock.currentTimeMillisUnsafe(), { disableChecks: true })
    return {
      event_id: fresh(EventId),
      env_id: caller.env_id,
      stream_id: streamId ?? input.newStream ?? fresh(StreamId),
      event_type: input.type,
      event_data: toJsonText(input.data),
      event_time: instant,
      created_at: instant
    }
  }

  /** What nearly every event comes to, without asking anybody; null where there is more to do, or to be said. */
  const plainly = (caller: Identity, input: NewEvent): Publication | null => {
    const { type, stream_id, causedBy = null } = input
    const deployed = deployments.peek(caller.env_id)
    if (deployed === undefined || isSystemType(type) || hasConditions(input)) return null
    if (!allows(caller.permissions, "event", type, "create") || faultOf(type) !== null) return null
    const streamId = stream_id === undefined ? undefined : readStreamId(stream_id)
    if (streamId === null) return null
    const event = eventOf(caller, input, streamId)
    return { event, matches: deployed.matches(type), causedBy, beginsStream: stream_id === undefined, request: null }
  }

  const planOf = Effect.fnUntraced(function* (event: Event, data: Schema.Json) {
    if (!isSystemType(event.event_type)) {
      return { matches: (yield* deployments.of(event.env_id)).matches(event.event_type) }
    }
    const { matches, schedule } = yield* system.plan(event, data)
    if (schedule === null) return { matches }
    if (event.event_time > event.created_at) return yield* notLater
    return { matches, schedule }
  })

  const fully = Effect.fnUntraced(function* (
    log: EventLog["Service"],
    input: NewEvent
  ): Effect.fn.Return<Prepared, Forbidden | BadRequest | StoreUnavailable, Caller> {
    const caller = yield* requirePermission("event", input.type, "create")
    const fault = faultOf(input.type)
    if (fault !== null) return yield* new BadRequest({ reason: fault })
    const streamId = input.stream_id === undefined ? undefined : yield* decodeStreamId(input.stream_id)
    const made = eventOf(caller, input, streamId)
    const event = { ...made, event_time: yield* happensAt(input, made.created_at) }
    const request = input.idempotencyKey === undefined ? null : yield* requestOf(input, event.event_data)
    const earlier = request === null ? null : yield* log.earlier(caller.env_id, request)
    if (earlier !== null) return { earlier }
    const plan = yield* planOf(event, input.data)
    const beginsStream = input.stream_id === undefined
    return { publication: { ...plan, event, causedBy: input.causedBy ?? null, beginsStream, request } }
  })

  return (log: EventLog["Service"], caller: Identity, input: NewEvent) => {
    const publication = plainly(caller, input)
    return publication === null ? fully(log, input) : Effect.succeed<Prepared>({ publication })
  }
})

const hasConditions = ({ idempotencyKey, delay, deliver_at }: NewEvent): boolean =>
  idempotencyKey !== undefined || delay !== undefined || deliver_at !== undefined

/** Schedules say themselves when. */
const notLater = new BadRequest({ reason: "delay and deliver_at: schedules are made and cancelled at once" })

/** What is wrong with an event's type; null where nothing is. */
const faultOf = (type: string): string | null => {
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
