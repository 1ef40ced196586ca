/** Handlers for `StreamsApi`: what fails is answered before the stream of messages begins. */
import { WeftApi } from "@weft/api"
import { allows, Credentials, Streams, toIdOrName } from "@weft/core"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { bearerToken } from "../access/BearerToken.ts"
import type { EventStreams } from "../streams/EventStreams.ts"
import { envFraming, opening, published, streamFraming } from "../streams/Frames.ts"

export const streamsLive = ({ answer }: EventStreams) =>
  HttpApiBuilder.group(
    WeftApi,
    "streams",
    Effect.fnUntraced(function* (handlers) {
      const streams = yield* Streams
      const mayRead = rightsOf(yield* Credentials)
      return handlers.handleAll({
        subscribeEnv: ({ headers, request }) =>
          Effect.flatMap(streams.ofEnv(headers["last-event-id"]), (subscription) =>
            answer({
              request,
              subscription,
              first: opening(subscription.begin),
              framing: envFraming,
              isAnnounced: false,
              mayGoOn: mayRead(request, "*")
            })
          ),
        subscribe: ({ params, query, headers, request }) =>
          Effect.flatMap(
            streams.ofStream(params.stream_id, {
              ...(query.project === undefined ? {} : { project: query.project }),
              ...(headers["last-event-id"] === undefined ? {} : { after: headers["last-event-id"] })
            }),
            (subscription) =>
              answer({
                request,
                subscription,
                first: opening(subscription.begin),
                framing: streamFraming,
                isAnnounced: true,
                mayGoOn: mayRead(request, toIdOrName(params.stream_id))
              })
          ),
        subscribeWithEvent: ({ payload: { event_type, event_data, stream_id }, request }) =>
          Effect.flatMap(
            streams.withEvent({
              type: event_type,
              data: event_data,
              ...(stream_id === undefined ? {} : { stream_id })
            }),
            ({ event, subscription }) =>
              answer({
                request,
                subscription,
                first: published(subscription.begin, event),
                framing: streamFraming,
                isAnnounced: true,
                mayGoOn: mayRead(request, event.stream_id)
              })
          )
      })
    })
  )

/** Whether the credential of a request may read streams now: it may have been revoked or narrowed since. */
const rightsOf =
  (credentials: Credentials["Service"]) =>
  ({ headers }: HttpServerRequest.HttpServerRequest, path: string): Effect.Effect<boolean> =>
    Effect.match(credentials.authenticate(bearerToken(headers.authorization) ?? ""), {
      // A store that does not answer takes nothing away.
      onFailure: ({ _tag }) => _tag === "StoreUnavailable",
      onSuccess: ({ permissions }) => allows(permissions, "stream", path, "read")
    })
