/** Subscribes callers to live activity. Checks permission first, then existence. */
import { Context, Effect, Layer, type Scope } from "effect"
import { BadRequest, type Forbidden, NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import { toIdOrName } from "../../foundation/IdOrName.ts"
import { freshIds, idReader, StreamId } from "../../foundation/Ids.ts"
import { type Caller, type Identity, requirePermission } from "../../tenants/access/Caller.ts"
import type { Event } from "../events/Event.ts"
import { Events, type NewEvent } from "../events/Events.ts"
import type { PublishError } from "../events/publishEvent.ts"
import { StreamHub, type StreamsConfig } from "./StreamHub.ts"
import { StreamStore } from "./StreamStore.ts"
import type { Subscription } from "./Subscription.ts"

export interface StreamQuery {
  /** Only runs of this project, by id or name. */
  readonly project?: string
  /** Position of an earlier subscription: the activity missed since then comes first. */
  readonly after?: string
}

export interface WatchedEvent {
  readonly event: Event
  /** Subscription to the event's stream that began before the event was published. */
  readonly subscription: Subscription
}

type SubscribeContext = Caller | Scope.Scope

export class Streams extends Context.Service<
  Streams,
  {
    /**
     * Subscribes to runs, events and streams of the whole environment. Requires `stream: read` on `*`. Fails with
     * `BadRequest` if the host disabled it (`StreamsConfig.wholeEnv`).
     */
    readonly ofEnv: (
      after?: string
    ) => Effect.Effect<Subscription, Forbidden | BadRequest | StoreUnavailable, SubscribeContext>
    /** Subscribes to the runs of a stream and the data that they emit. Requires `stream: read` on the id. */
    readonly ofStream: (
      streamId: string,
      query?: StreamQuery
    ) => Effect.Effect<Subscription, Forbidden | NotFound | StoreUnavailable, SubscribeContext>
    /**
     * Subscribes to the event's stream and then publishes the event, so that no run of it is missed. Requires
     * `stream: read` on the stream (on `*` for a new stream) and `event: create` on the type.
     */
    readonly withEvent: (event: NewEvent) => Effect.Effect<WatchedEvent, PublishError, SubscribeContext>
  }
>()("@weft/core/runtime/streams/Streams") {
  static readonly layer = (config: StreamsConfig = {}) =>
    Layer.effect(
      Streams,
      Effect.gen(function* () {
        const hub = yield* StreamHub
        const store = yield* StreamStore
        const events = yield* Events
        const fresh = yield* freshIds

        const subscribe = (caller: Identity, stream: StreamId, { project, after }: StreamQuery) =>
          hub.subscribe(
            caller.env_id,
            { stream, project: project === undefined ? null : toIdOrName(project) },
            after ?? null
          )

        return Streams.of({
          ofEnv: Effect.fnUntraced(function* (after) {
            const caller = yield* requirePermission("stream", "*", "read")
            if (config.wholeEnv === false)
              return yield* new BadRequest({ reason: "Pub/sub is not configured on this server" })
            return yield* hub.subscribe(caller.env_id, { stream: null }, after ?? null)
          }),

          ofStream: Effect.fnUntraced(function* (text, query = {}) {
            const streamId = readStreamId(text)
            const caller = yield* requirePermission("stream", streamId ?? text, "read")
            if (streamId === null || !(yield* store.exists(caller.env_id, streamId))) {
              return yield* new NotFound({ resource: "stream" })
            }
            return yield* subscribe(caller, streamId, query)
          }),

          withEvent: Effect.fnUntraced(function* (event) {
            const { stream_id: text } = event
            const known = text === undefined ? undefined : readStreamId(text)
            const caller = yield* requirePermission("stream", known ?? text ?? "*", "read")
            yield* requirePermission("event", event.type, "create")
            if (known === null) return yield* new BadRequest({ reason: "stream_id must be a UUID" })
            const stream = known ?? (yield* fresh(StreamId))
            const subscription = yield* subscribe(caller, stream, {})
            const published = yield* events.publish(known === undefined ? { ...event, newStream: stream } : event)
            return { event: published, subscription }
          })
        })
      })
    ).pipe(Layer.provide(StreamHub.layer(config)))
}

const readStreamId = idReader(StreamId)
