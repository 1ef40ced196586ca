/** Events and the runs that they caused. */
import { EventId, StreamId } from "@weft/core/adapter"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError, PlanRequiredError } from "../errors/ErrorSchemas.ts"
import { EventRecord } from "../records/Records.ts"
import { pathId, sentId } from "../records/Uuid.ts"
import { SentJson } from "../records/Wire.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { summary, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"
import { RunList } from "./RunsApi.ts"

const eventParams = { event_id: pathId(EventId) }

const EventResponse = Single("EventResponse", EventRecord)

const NewEvent = Schema.Struct({
  event_type: Schema.String,
  event_data: SentJson,
  stream_id: Schema.optionalKey(
    sentId(StreamId).annotate({
      description: "Stream to append to; by default the event starts a new stream"
    })
  ),
  delay: Schema.optionalKey(
    Schema.Union([Schema.String, Schema.Finite]).annotate({
      description: "Extension: delay before the event is handled, as `90s`, `PT90S` or milliseconds; at most 365 days",
      message: "must be a string or a number"
    })
  ),
  deliver_at: Schema.optionalKey(
    Schema.String.annotate({
      format: "date-time",
      description: "Extension: time when the event is handled, instead of `delay`"
    })
  )
}).annotate({
  identifier: "EventInput",
  // `delay` and `deliver_at` exclude each other.
  examples: [
    {
      event_type: "order:created",
      event_data: { order: 1042, total: 21 },
      stream_id: "01970d40-1d41-7e26-86b9-4a7c0f1e9307",
      delay: "90s"
    }
  ]
})

/** Key of a request that makes its retries idempotent. */
const idempotencyKey = {
  "idempotency-key": Schema.optionalKey(
    Schema.String.annotate({
      description: "Extension: within 24 hours, requests with the same key publish once and have the same response",
      examples: ["order-1042"]
    })
  )
}

export class EventsApi extends HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.post("publish", "/v1/events", {
      payload: NewEvent,
      headers: idempotencyKey,
      success: EventResponse.pipe(HttpApiSchema.status(201)),
      error: [PlanRequiredError, NotFoundError]
    })
      .annotateMerge(summary("Publish an event"))
      .annotateMerge(requires({ type: "event", action: "create", on: "body" })),
    HttpApiEndpoint.get("list", "/v1/events", {
      query: pageQuery,
      success: List("EventList", EventRecord)
    })
      .annotateMerge(summary("List events, newest first"))
      .annotateMerge(requires({ type: "event", action: "read", on: "resource" })),
    HttpApiEndpoint.get("get", "/v1/events/:event_id", {
      params: eventParams,
      success: EventResponse,
      error: NotFoundError
    })
      .annotateMerge(summary("Get an event"))
      .annotateMerge(requires({ type: "event", action: "read", on: "resource" })),
    HttpApiEndpoint.get("runs", "/v1/events/:event_id/runs", {
      params: eventParams,
      query: pageQuery,
      success: RunList,
      error: NotFoundError
    })
      .annotateMerge(summary("List the runs that an event triggered; all of them by default"))
      .annotateMerge(requires({ type: "run", action: "read", on: "resource" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Events", "Stored messages of a type, which start the matching handlers")) {}
