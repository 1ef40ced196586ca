/** Handlers for `StreamsApi`. Errors get a normal response, because they occur before the stream of messages begins. */
import { WeftApi } from "@weft/api"
import { Streams } from "@weft/core"
import { toIdOrName } from "@weft/core/adapter"
import { allows, Credentials } from "@weft/core/internal"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { bearerToken } from "../access/BearerToken.ts"
import type { EventStreams } from "../streams/EventStreams.ts"
import { connectedComment, envEncoder, publishedFrame, streamEncoder } from "../streams/SseEncoder.ts"

export const streamsLive = ({ respond }: EventStreams) =>
  HttpApiBuilder.group(
    WeftApi,
    "streams",
    Effect.fnUntraced(function* (handlers) {
      const streams = yield* Streams
      const canRead = makeReadCheck(yield* Credentials)
      return handlers.handleAll({
        subscribeEnv: ({ headers, request }) =>
          Effect.flatMap(streams.ofEnv(headers["last-event-id"]), (subscription) =>
            respond({
              request,
              subscription,
              first: connectedComment(subscription.begin),
              encoder: envEncoder,
              sendsComplete: false,
              isAuthorized: canRead(request, "*")
            })
          ),
        subscribe: ({ params, query, headers, request }) =>
          Effect.flatMap(
            streams.ofStream(params.stream_id, {
              ...(query.project === undefined ? {} : { project: query.project }),
              ...(headers["last-event-id"] === undefined ? {} : { after: headers["last-event-id"] })
            }),
            (subscription) =>
              respond({
                request,
                subscription,
                first: connectedComment(subscription.begin),
                encoder: streamEncoder,
                sendsComplete: true,
                isAuthorized: canRead(request, toIdOrName(params.stream_id))
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
              respond({
                request,
                subscription,
                first: publishedFrame(subscription.begin, event),
                encoder: streamEncoder,
                sendsComplete: true,
                isAuthorized: canRead(request, event.stream_id)
              })
          )
      })
    })
  )

/** Returns a check of a request's current permission to read, which may have been revoked since it subscribed. */
const makeReadCheck =
  (credentials: Credentials["Service"]) =>
  ({ headers }: HttpServerRequest.HttpServerRequest, path: string): Effect.Effect<boolean> =>
    Effect.match(credentials.authenticate(bearerToken(headers.authorization) ?? ""), {
      // A store outage does not revoke permissions.
      onFailure: ({ _tag }) => _tag === "StoreUnavailable",
      onSuccess: ({ permissions }) => allows(permissions, "stream", path, "read")
    })
