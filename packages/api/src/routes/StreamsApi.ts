/** Subscriptions: what happens, as it happens, as Server-Sent Events. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { NotFoundError, PlanRequiredError } from "../errors/ErrorSchemas.ts"
import { EnvMessage, StreamMessage, WatchedMessage } from "../records/StreamRecords.ts"
import { SentUuid } from "../records/Uuid.ts"
import { SentJson } from "../records/Wire.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { summary, tag } from "./Documentation.ts"

const comingBack = {
  "last-event-id": Schema.optionalKey(
    Schema.String.annotate({ description: "The id of the last message that was received: those after it come first" })
  )
}

const WatchedEvent = Schema.Struct({
  event_type: Schema.String,
  event_data: SentJson,
  stream_id: Schema.optionalKey(
    SentUuid.annotate({
      description: "Appends to this stream; without it the event begins a new one"
    })
  )
}).annotate({ identifier: "WatchedEventInput" })

export class StreamsApi extends HttpApiGroup.make("streams")
  .add(
    HttpApiEndpoint.get("subscribeEnv", "/v1/env/subscribe", {
      headers: comingBack,
      success: HttpApiSchema.StreamSse({ events: EnvMessage })
    }).annotateMerge(summary("Watch runs, events and streams of the environment; ends after 5 minutes")),
    HttpApiEndpoint.get("subscribe", "/v1/streams/:stream_id/subscribe", {
      params: { stream_id: Schema.String },
      query: {
        project: Schema.optionalKey(
          Schema.String.annotate({ description: "Only runs of the project with this id or name" })
        )
      },
      headers: comingBack,
      success: HttpApiSchema.StreamSse({ events: StreamMessage }),
      error: NotFoundError
    }).annotateMerge(summary("Watch the runs of a stream and what they emit; ends after 5 minutes")),
    HttpApiEndpoint.post("subscribeWithEvent", "/v1/streams/subscribe-with-event", {
      payload: WatchedEvent,
      success: HttpApiSchema.StreamSse({ events: WatchedMessage }),
      error: [PlanRequiredError, NotFoundError]
    }).annotateMerge(summary("Publish an event and watch its stream, from before the event on"))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Streams", "What happens, told as it happens, as Server-Sent Events")) {}
