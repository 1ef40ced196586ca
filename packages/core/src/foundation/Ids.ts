/**
 * Branded identifiers and their generator.
 *
 * All generated ids are UUIDv7 (RFC 9562). They sort by creation, so stores list the newest first by primary key
 * alone. Clients may supply build ids and stream ids of any UUID version. Only the shape is checked, so an undefined
 * version is accepted as well.
 */
import { Clock, Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { makeUuidV7, timeOfUuidV7 } from "./UuidV7.ts"

const shape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns a check that text has the shape of a UUID. */
export const isUuidShaped = (options: { readonly message?: string } = {}) =>
  Schema.isPattern(shape, { expected: "a UUID", toJsonSchema: () => ({ format: "uuid" }), ...options })

const uuid = Schema.String.check(isUuidShaped())

const uuidLike = (example: string) => uuid.annotate({ examples: [example] })

export const OrgId = uuidLike("01970d3c-6a00-7c1e-9a41-0c5b8c3f2a01").pipe(Schema.brand("OrgId"))
export type OrgId = typeof OrgId.Type

/** An environment, the boundary between tenants. Every query of every store names one. */
export const EnvId = uuidLike("01970d3c-6a10-7f02-8d0e-51f0a9b7e602").pipe(Schema.brand("EnvId"))
export type EnvId = typeof EnvId.Type

export const ApiKeyId = uuidLike("01970d3c-6a20-78bf-a48c-b3d1cf705c10").pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

export const SessionId = uuidLike("01970d42-5c90-7d8c-915f-80ae9c4d290d").pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

export const ServiceKeyId = uuidLike("01970d42-6da0-7e9d-826a-91bfad5e3a0e").pipe(Schema.brand("ServiceKeyId"))
export type ServiceKeyId = typeof ServiceKeyId.Type

export const ProjectId = uuidLike("01970d3c-7b20-7a63-b5cc-6de2c9a1f403").pipe(Schema.brand("ProjectId"))
export type ProjectId = typeof ProjectId.Type

export const FileId = uuidLike("01970d41-3a70-7b6a-bf3d-6e8c7a2b070b").pipe(Schema.brand("FileId"))
export type FileId = typeof FileId.Type

export const UploadId = uuidLike("01970d41-4b80-7c7b-a04e-7f9d8b3c180c").pipe(Schema.brand("UploadId"))
export type UploadId = typeof UploadId.Type

export const BuildId = uuidLike("01970d3d-0c30-7d84-a3f7-2b9e4d6c8105").pipe(Schema.brand("BuildId"))
export type BuildId = typeof BuildId.Type

export const HandlerId = uuidLike("01970d3d-2f60-7948-9b1d-3c6a5e0f8509").pipe(Schema.brand("HandlerId"))
export type HandlerId = typeof HandlerId.Type

export const ScheduleId = uuidLike("01970d3d-2f61-7a59-8e2c-5d7b6f1a960a").pipe(Schema.brand("ScheduleId"))
export type ScheduleId = typeof ScheduleId.Type

export const StreamId = uuidLike("01970d40-1d41-7e26-86b9-4a7c0f1e9307").pipe(Schema.brand("StreamId"))
export type StreamId = typeof StreamId.Type

export const EventId = uuidLike("01970d40-1d40-7b15-9c28-8f3a6e5d7206").pipe(Schema.brand("EventId"))
export type EventId = typeof EventId.Type

export const RunId = uuidLike("01970d40-1e50-7c37-ad4a-7e5b2c8f6408").pipe(Schema.brand("RunId"))
export type RunId = typeof RunId.Type

export const DeliveryId = uuid.pipe(Schema.brand("DeliveryId"))
export type DeliveryId = typeof DeliveryId.Type

export const CanaryId = uuidLike("01970d46-2d80-7c31-8b2a-5e1f0c9d7a24").pipe(Schema.brand("CanaryId"))
export type CanaryId = typeof CanaryId.Type

export const PauseId = uuidLike("01970d45-1c90-7a51-9d0c-4a3d2b1c0f6e").pipe(Schema.brand("PauseId"))
export type PauseId = typeof PauseId.Type

/** A session that evaluates inputs. */
export const ReplId = uuidLike("01970d46-2da0-7b62-8e1d-5b4e3c2d1f7f").pipe(Schema.brand("ReplId"))
export type ReplId = typeof ReplId.Type

export const OperationId = uuidLike("01970d46-2d10-7c6e-8b1f-6e5d4c3b2a10").pipe(Schema.brand("OperationId"))
export type OperationId = typeof OperationId.Type
export const AlertId = uuidLike("01970d46-2da0-7b62-8e1d-5b4e3c2d1a7f").pipe(Schema.brand("AlertId"))
export type AlertId = typeof AlertId.Type

/** A transition of an alert rule. */
export const NoticeId = uuid.pipe(Schema.brand("NoticeId"))
export type NoticeId = typeof NoticeId.Type

export const DomainId = uuidLike("01970d43-7eb0-7fae-b37b-a2c0be6f4b0f").pipe(Schema.brand("DomainId"))
export type DomainId = typeof DomainId.Type

export const AuditId = uuid.pipe(Schema.brand("AuditId"))
export type AuditId = typeof AuditId.Type

/** A process that runs deliveries. A restarted process is a new node. */
export const NodeId = uuid.pipe(Schema.brand("NodeId"))
export type NodeId = typeof NodeId.Type

/** One generator for each source of randomness and clock, so that all code that shares them gets ascending ids. */
const generators = new WeakMap<SecureRandom.SecureRandom["Service"], WeakMap<Clock.Clock, () => string>>()

/** Returns a generator of ids of any kind, each greater than the last. */
export const freshIdsNow: Effect.Effect<
  <Id extends string>(schema: Schema.Codec<Id, string>) => Id,
  never,
  SecureRandom.SecureRandom
> = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  const clock = yield* Clock.Clock
  const byClock = generators.get(random) ?? new WeakMap<Clock.Clock, () => string>()
  generators.set(random, byClock)
  const next =
    byClock.get(clock) ??
    makeUuidV7(
      () => clock.currentTimeMillisUnsafe(),
      (count) => Effect.runSync(random.randomBytes(count))
    )
  byClock.set(clock, next)
  return (schema) => schema.make(next(), { disableChecks: true })
})

/** Generates an id of the given kind. Ids of one process ascend, even within a millisecond. */
export const fresh = <Id extends string>(
  schema: Schema.Codec<Id, string>
): Effect.Effect<Id, never, SecureRandom.SecureRandom> => Effect.map(freshIdsNow, (next) => next(schema))

/** Returns `fresh` with its source of randomness already provided, for services whose methods have no requirements. */
export const freshIds: Effect.Effect<
  <Id extends string>(schema: Schema.Codec<Id, string>) => Effect.Effect<Id>,
  never,
  SecureRandom.SecureRandom
> = Effect.map(freshIdsNow, (next) => (schema) => Effect.sync(() => next(schema)))

/** Largest timestamp of a UUIDv7, which has 48 bits, in milliseconds since 1970. */
const timeMax = 2 ** 48 - 1

/**
 * Returns the smallest id that can have been generated at `instant` (milliseconds since 1970). Ids that were generated
 * earlier are less; ids generated then or later are not.
 */
export const leastIdAt = <Id extends string>(schema: Schema.Codec<Id, string>, instant: number): Id => {
  const time = Math.min(Math.max(0, instant), timeMax).toString(16).padStart(12, "0")
  return schema.make(`${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`)
}

/** Returns an id that sorts among those that were generated `millis` earlier than this one. */
export const earlierId = <Id extends string>(schema: Schema.Codec<Id, string>, id: Id, millis: number): Id =>
  schema.make(leastIdAt(schema, timeOfUuidV7(id) - millis).slice(0, 14) + id.slice(14))

/**
 * Returns a parser of ids as clients write them. It converts UUIDs to lower case, the only form that stores contain,
 * and returns null for anything else.
 */
export const idReader = <Id extends string>(schema: Schema.Codec<Id, string>): ((value: unknown) => Id | null) => {
  const isId = Schema.is(schema)
  return (value) => {
    const id = typeof value === "string" ? value.toLowerCase() : value
    return isId(id) ? id : null
  }
}

/** True if the text has the shape of an id. Other text can only be a name. */
export const isUuid: (text: string) => boolean = Schema.is(uuid)
