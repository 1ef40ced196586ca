/** Subscriptions to live activity, as Server-Sent Events. */
import { StreamId } from "@weft/core/adapter"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { NotFoundError, PlanRequiredError } from "../errors/ErrorSchemas.ts"
import { example } from "../openapi/FieldExample.ts"
import { EnvMessage, StreamMessage, WatchedMessage } from "../records/StreamRecords.ts"
import { pathId, sentId } from "../records/Uuid.ts"
import { SentJson } from "../records/Wire.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { summary, tag } from "./Documentation.ts"

const resumeHeaders = {
  "last-event-id": Schema.optionalKey(
    Schema.String.annotate({
      description: "Id of the last received message; the server first sends the messages after it"
    })
  )
}

const WatchedEvent = Schema.Struct({
  event_type: example(Schema.String, "order:created"),
  event_data: example(SentJson, { order: 1042, total: 21 }),
  stream_id: Schema.optionalKey(
    sentId(StreamId).annotate({
      description: "Stream to append to; by default the event starts a new stream"
    })
  )
}).annotate({ identifier: "WatchedEventInput" })

export class StreamsApi extends HttpApiGroup.make("streams")
  .add(
    HttpApiEndpoint.get("subscribeEnv", "/v1/env/subscribe", {
      headers: resumeHeaders,
      success: HttpApiSchema.StreamSse({ events: EnvMessage })
    })
      .annotateMerge(summary("Watch runs, events and streams of the environment; ends after 5 minutes"))
      .annotateMerge(requires({ type: "stream", action: "read", on: "all" })),
    HttpApiEndpoint.get("subscribe", "/v1/streams/:stream_id/subscribe", {
      params: { stream_id: pathId(StreamId) },
      query: {
        project: Schema.optionalKey(
          Schema.String.annotate({ description: "Only runs of the project with this id or name" })
        )
      },
      headers: resumeHeaders,
      success: HttpApiSchema.StreamSse({ events: StreamMessage }),
      error: NotFoundError
    })
      .annotateMerge(summary("Watch the runs of a stream and what they emit; ends after 5 minutes"))
      .annotateMerge(requires({ type: "stream", action: "read", on: "stream" })),
    HttpApiEndpoint.post("subscribeWithEvent", "/v1/streams/subscribe-with-event", {
      payload: WatchedEvent,
      success: HttpApiSchema.StreamSse({ events: WatchedMessage }),
      error: [PlanRequiredError, NotFoundError]
    })
      .annotateMerge(summary("Publish an event and watch its stream, starting before the event"))
      .annotateMerge(
        requires({ type: "stream", action: "read", on: "body", also: { type: "event", action: "create" } })
      )
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Streams", "Live activity, as Server-Sent Events")) {}
