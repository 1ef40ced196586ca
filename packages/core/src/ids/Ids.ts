/**
 * Branded identifiers and where new ones come from.
 *
 * All ids made here are UUIDv7 (RFC 9562): they sort by creation, so that stores list the newest first
 * by primary key alone. A client may supply a build id or a stream id of any version, or of none: what has the
 * shape of a UUID is one.
 */
import { Clock, Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { makeUuidV7 } from "./UuidV7.ts"

const shape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Checks that text has the shape of a UUID. */
export const isUuidShaped = (said: { readonly message?: string } = {}) =>
  Schema.isPattern(shape, { expected: "a UUID", toJsonSchema: () => ({ format: "uuid" }), ...said })

const uuid = Schema.String.check(isUuidShaped())

export const OrgId = uuid.pipe(Schema.brand("OrgId"))
export type OrgId = typeof OrgId.Type

/** An environment: the tenancy boundary. Every query of every store names one. */
export const EnvId = uuid.pipe(Schema.brand("EnvId"))
export type EnvId = typeof EnvId.Type

export const ApiKeyId = uuid.pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

export const SessionId = uuid.pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

export const ServiceKeyId = uuid.pipe(Schema.brand("ServiceKeyId"))
export type ServiceKeyId = typeof ServiceKeyId.Type

export const ProjectId = uuid.pipe(Schema.brand("ProjectId"))
export type ProjectId = typeof ProjectId.Type

export const FileId = uuid.pipe(Schema.brand("FileId"))
export type FileId = typeof FileId.Type

export const UploadId = uuid.pipe(Schema.brand("UploadId"))
export type UploadId = typeof UploadId.Type

export const BuildId = uuid.pipe(Schema.brand("BuildId"))
export type BuildId = typeof BuildId.Type

export const HandlerId = uuid.pipe(Schema.brand("HandlerId"))
export type HandlerId = typeof HandlerId.Type

export const ScheduleId = uuid.pipe(Schema.brand("ScheduleId"))
export type ScheduleId = typeof ScheduleId.Type

export const StreamId = uuid.pipe(Schema.brand("StreamId"))
export type StreamId = typeof StreamId.Type

export const EventId = uuid.pipe(Schema.brand("EventId"))
export type EventId = typeof EventId.Type

export const RunId = uuid.pipe(Schema.brand("RunId"))
export type RunId = typeof RunId.Type

export const DeliveryId = uuid.pipe(Schema.brand("DeliveryId"))
export type DeliveryId = typeof DeliveryId.Type

export const DomainId = uuid.pipe(Schema.brand("DomainId"))
export type DomainId = typeof DomainId.Type

export const AuditId = uuid.pipe(Schema.brand("AuditId"))
export type AuditId = typeof AuditId.Type

/** One process that runs deliveries. A restart is a new node. */
export const NodeId = uuid.pipe(Schema.brand("NodeId"))
export type NodeId = typeof NodeId.Type

/** One for each source and clock, so that all who share them have ids that ascend. */
const generators = new WeakMap<SecureRandom.SecureRandom["Service"], WeakMap<Clock.Clock, () => string>>()

/** Makes ids of the kind asked for, each greater than the last. */
export const freshIdsNow: Effect.Effect<
  <Id extends string>(schema: Schema.Codec<Id, string>) => Id,
  never,
  SecureRandom.SecureRandom
> = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  const clock = yield* Clock.Clock
  const ofSource = generators.get(random) ?? new WeakMap<Clock.Clock, () => string>()
  generators.set(random, ofSource)
  const next =
    ofSource.get(clock) ??
    makeUuidV7(
      () => clock.currentTimeMillisUnsafe(),
      (count) => Effect.runSync(random.randomBytes(count))
    )
  ofSource.set(clock, next)
  return (schema) => schema.make(next(), { disableChecks: true })
})

/** A new id of the given kind. Ids of one process ascend, also within a millisecond. */
export const fresh = <Id extends string>(
  schema: Schema.Codec<Id, string>
): Effect.Effect<Id, never, SecureRandom.SecureRandom> => Effect.map(freshIdsNow, (next) => next(schema))

/** `fresh` with its source of randomness at hand, for services whose methods need nothing. */
export const freshIds: Effect.Effect<
  <Id extends string>(schema: Schema.Codec<Id, string>) => Effect.Effect<Id>,
  never,
  SecureRandom.SecureRandom
> = Effect.map(freshIdsNow, (next) => (schema) => Effect.sync(() => next(schema)))

/** The last millisecond that a UUIDv7 can tell: its time has 48 bits. */
const timeMax = 2 ** 48 - 1

/**
 * The least id that can have been made at `instant` (milliseconds since 1970): the ids made here before are less,
 * those made then or later are not.
 */
export const leastIdAt = <Id extends string>(schema: Schema.Codec<Id, string>, instant: number): Id => {
  const time = Math.min(Math.max(0, instant), timeMax).toString(16).padStart(12, "0")
  return schema.make(`${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`)
}

/**
 * Reads ids of a kind as clients write them, into the one spelling that stores know: UUIDs count as equal whatever their
 * case. Null for what is none.
 */
export const idReader = <Id extends string>(schema: Schema.Codec<Id, string>): ((value: unknown) => Id | null) => {
  const isId = Schema.is(schema)
  return (value) => {
    const id = typeof value === "string" ? value.toLowerCase() : value
    return isId(id) ? id : null
  }
}

/** Whether text has the shape of an id. What has not is the name of something, or of nothing. */
export const isUuid: (text: string) => boolean = Schema.is(uuid)
