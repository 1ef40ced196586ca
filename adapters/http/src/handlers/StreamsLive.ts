/** Handlers for `StreamsApi`: what fails is answered before the stream of messages begins. */
import { WeftApi } from "@weft/api"
import { Streams } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { EventStreams } from "../streams/EventStreams.ts"
import { envFraming, opening, published, streamFraming } from "../streams/Frames.ts"

export const streamsLive = ({ answer }: EventStreams) =>
  HttpApiBuilder.group(
    WeftApi,
    "streams",
    Effect.fnUntraced(function* (handlers) {
      const streams = yield* Streams
      return handlers.handleAll({
        subscribeEnv: ({ headers }) =>
          Effect.flatMap(streams.ofEnv(headers["last-event-id"]), (subscription) =>
            answer({ subscription, first: opening(subscription.begin), framing: envFraming, isAnnounced: false })
          ),
        subscribe: ({ params, query, headers }) =>
          Effect.flatMap(
            streams.ofStream(params.stream_id, {
              ...(query.project === undefined ? {} : { project: query.project }),
              ...(headers["last-event-id"] === undefined ? {} : { after: headers["last-event-id"] })
            }),
            (subscription) =>
              answer({ subscription, first: opening(subscription.begin), framing: streamFraming, isAnnounced: true })
          ),
        subscribeWithEvent: ({ payload: { event_type, event_data, stream_id } }) =>
          Effect.flatMap(
            streams.withEvent({
              type: event_type,
              data: event_data,
              ...(stream_id === undefined ? {} : { stream_id })
            }),
            ({ event, subscription }) =>
              answer({
                subscription,
                first: published(subscription.begin, event),
                framing: streamFraming,
                isAnnounced: true
              })
          )
      })
    })
  )
