/** Deliveries: events that wait for the runs of their handlers. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { Single } from "../envelope/Envelope.ts"
import { CancelledDeliveriesRecord } from "../records/Records.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"

const filter = (description: string) => Schema.optionalKey(Schema.String.annotate({ description }))

export class DeliveriesApi extends HttpApiGroup.make("deliveries")
  .add(
    HttpApiEndpoint.post("cancel", "/v1/deliveries/cancel", {
      query: {
        project: filter("Only of this project: its id, or its name when the events were published"),
        fn: filter("Only of this function: `ns/var` or `project:ns/var`"),
        event_type: filter("Only of events of this type")
      },
      success: Single("CancelledDeliveriesResponse", CancelledDeliveriesRecord)
    })
      .annotateMerge(extension("Cancel the pending deliveries that match the filters; running runs continue"))
      .annotateMerge(requires({ type: "call", action: "create", on: "resource", audit: "deliveries.cancel" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Deliveries", "Events that wait for the runs of their handlers")) {}
