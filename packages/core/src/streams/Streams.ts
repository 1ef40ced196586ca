/** Watching what happens as it happens: permission first, then whether it is there, then the hub. */
import { Context, Effect, Layer, type Scope } from "effect"
import { type Caller, type Identity, requirePermission } from "../access/Caller.ts"
import { BadRequest, type Forbidden, NotFound, type PlanRequired, type StoreUnavailable } from "../errors/Errors.ts"
import type { Event } from "../events/Event.ts"
import { Events, type NewEvent } from "../events/Events.ts"
import { toIdOrName } from "../ids/IdOrName.ts"
import { freshIds, idReader, StreamId } from "../ids/Ids.ts"
import { StreamHub, type StreamsConfig } from "./StreamHub.ts"
import { StreamStore } from "./StreamStore.ts"
import type { Subscription } from "./Subscription.ts"

export interface StreamQuery {
  /** Id or name: only runs of this project. */
  readonly project?: string
  /** A position that a former subscription gave: what was missed since and is still kept comes first. */
  readonly after?: string
}

export interface WatchedEvent {
  readonly event: Event
  /** To the event's stream, from before the event on. */
  readonly subscription: Subscription
}

type Watching = Caller | Scope.Scope

export class Streams extends Context.Service<
  Streams,
  {
    /**
     * Runs, events and streams of the whole environment. Needs `stream: read` on all. `BadRequest` where the host has
     * no way to hear of everything.
     */
    readonly ofEnv: (after?: string) => Effect.Effect<Subscription, Forbidden | BadRequest | StoreUnavailable, Watching>
    /** Runs of the stream, and what they emit. Needs `stream: read` on the id. `NotFound` for one that nothing is in. */
    readonly ofStream: (
      streamId: string,
      query?: StreamQuery
    ) => Effect.Effect<Subscription, Forbidden | NotFound | StoreUnavailable, Watching>
    /**
     * Publishes the event and watches its stream, so that nothing of what it sets off is missed. Needs `stream: read` on
     * the stream, on all where it is a new one, and `event: create` on the type.
     */
    readonly withEvent: (
      event: NewEvent
    ) => Effect.Effect<WatchedEvent, Forbidden | BadRequest | PlanRequired | NotFound | StoreUnavailable, Watching>
  }
>()("@weft/core/streams/Streams") {
  static readonly layer = (config: StreamsConfig = {}) =>
    Layer.effect(
      Streams,
      Effect.gen(function* () {
        const hub = yield* StreamHub
        const store = yield* StreamStore
        const events = yield* Events
        const fresh = yield* freshIds

        const watch = (caller: Identity, stream: StreamId, { project, after }: StreamQuery) =>
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
            return yield* watch(caller, streamId, query)
          }),

          withEvent: Effect.fnUntraced(function* (event) {
            const { stream_id: text } = event
            const known = text === undefined ? undefined : readStreamId(text)
            const caller = yield* requirePermission("stream", known ?? text ?? "*", "read")
            yield* requirePermission("event", event.type, "create")
            if (known === null) return yield* new BadRequest({ reason: "stream_id must be a UUID" })
            const stream = known ?? (yield* fresh(StreamId))
            const subscription = yield* watch(caller, stream, {})
            const published = yield* events.publish(known === undefined ? { ...event, newStream: stream } : event)
            return { event: published, subscription }
          })
        })
      })
    ).pipe(Layer.provide(StreamHub.layer(config)))
}

const readStreamId = idReader(StreamId)
