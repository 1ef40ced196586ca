/** Deliveries: events that wait for the runs of their handlers. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError } from "../errors/ErrorSchemas.ts"
import { CancelledDeliveriesRecord } from "../records/Records.ts"
import { DeliveryRecord, WaitingItemRecord } from "../records/WaitRecords.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"

const filter = (description: string) => Schema.optionalKey(Schema.String.annotate({ description }))

const filters = {
  project: filter("Only of this project: its id, or its name when the events were published"),
  fn: filter("Only of this function: `ns/var` or `project:ns/var`"),
  event_type: filter("Only of events of this type")
}

export class DeliveriesApi extends HttpApiGroup.make("deliveries")
  .add(
    HttpApiEndpoint.get("list", "/v1/deliveries", {
      query: { ...pageQuery, ...filters },
      success: List("DeliveryList", DeliveryRecord)
    })
      .annotateMerge(
        extension(
          "List pending deliveries with the reasons why they wait, in the order in which they are due. `total` counts at most 10,000 of them, or one beyond the end of the page"
        )
      )
      .annotateMerge(requires({ type: "run", action: "read", on: "resource" })),
    HttpApiEndpoint.get("why", "/v1/waiting/:waiting_id", {
      params: { waiting_id: Schema.String.annotate({ description: "Id of a delivery, run, event or schedule" }) },
      success: List("WaitingItemList", WaitingItemRecord),
      error: NotFoundError
    })
      .annotateMerge(extension("Explain why a delivery, a run, the deliveries of an event, or a schedule wait"))
      .annotateMerge(requires({ type: "run", action: "read", on: "resource" })),
    HttpApiEndpoint.post("cancel", "/v1/deliveries/cancel", {
      query: {
        ...filters,
        dry_run: Schema.optionalKey(
          Schema.Literal("true").annotate({
            description: "`true` cancels nothing, and counts the matching deliveries, at most 100,000"
          })
        )
      },
      success: Single("CancelledDeliveriesResponse", CancelledDeliveriesRecord)
    })
      .annotateMerge(extension("Cancel the pending deliveries that match the filters; running runs continue"))
      .annotateMerge(requires({ type: "call", action: "create", on: "resource", audit: "deliveries.cancel" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Deliveries", "Events that wait for the runs of their handlers")) {}
