/** Events and the runs that they caused. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError, PlanRequiredError } from "../errors/ErrorSchemas.ts"
import { EventRecord } from "../records/Records.ts"
import { SentUuid } from "../records/Uuid.ts"
import { SentJson } from "../records/Wire.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { summary, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"
import { RunList } from "./RunsApi.ts"

const eventParams = { event_id: Schema.String }

const EventResponse = Single("EventResponse", EventRecord)

const NewEvent = Schema.Struct({
  event_type: Schema.String,
  event_data: SentJson,
  stream_id: Schema.optionalKey(
    SentUuid.annotate({
      description: "Appends to this stream; without it the event begins a new one"
    })
  ),
  delay: Schema.optionalKey(
    Schema.Union([Schema.String, Schema.Finite]).annotate({
      description:
        "Extension: how long to wait before it is handled, as `90s`, `PT90S` or milliseconds; up to 365 days",
      message: "must be a string or a number"
    })
  ),
  deliver_at: Schema.optionalKey(
    Schema.String.annotate({ format: "date-time", description: "Extension, instead of `delay`: when it is handled" })
  )
}).annotate({ identifier: "EventInput" })

/** The name that a client gives to a request, so that it may be repeated without harm. */
const idempotencyKey = {
  "idempotency-key": Schema.optionalKey(
    Schema.String.annotate({
      description: "Extension: within 24 hours, requests with the same key publish once and are answered alike"
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
    }).annotateMerge(summary("Publish an event")),
    HttpApiEndpoint.get("list", "/v1/events", {
      query: pageQuery,
      success: List("EventList", EventRecord)
    }).annotateMerge(summary("List events, newest first")),
    HttpApiEndpoint.get("get", "/v1/events/:event_id", {
      params: eventParams,
      success: EventResponse,
      error: NotFoundError
    }).annotateMerge(summary("Get an event")),
    HttpApiEndpoint.get("runs", "/v1/events/:event_id/runs", {
      params: eventParams,
      query: pageQuery,
      success: RunList,
      error: NotFoundError
    }).annotateMerge(summary("List the runs that an event triggered; all of them where nothing else is asked for"))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Events", "What happened, told to the handlers that wait for it")) {}
