/** Dead letters: deliveries whose last attempt failed. */
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError, PlanRequiredError } from "../errors/ErrorSchemas.ts"
import {
  DeadLetterRecord,
  DiscardedRecord,
  DiscardInput,
  deadLetterFilters,
  RedriveInput,
  RedrivenRecord
} from "../records/DeadLetterRecords.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"

export class DeadLettersApi extends HttpApiGroup.make("deadLetters")
  .add(
    HttpApiEndpoint.get("list", "/v1/dead-letters", {
      query: { ...pageQuery, ...deadLetterFilters },
      success: List("DeadLetterList", DeadLetterRecord)
    })
      .annotateMerge(
        extension(
          "List deliveries whose last attempt failed, or that expired, the latest first. `total` counts at most 10,000 of them, or one beyond the end of the page"
        )
      )
      .annotateMerge(requires({ type: "run", action: "read", on: "resource" })),
    HttpApiEndpoint.post("redrive", "/v1/dead-letters/redrive", {
      payload: RedriveInput,
      success: Single("RedrivenDeadLettersResponse", RedrivenRecord),
      error: [PlanRequiredError, NotFoundError]
    })
      .annotateMerge(
        extension(
          "Run the functions of the matching letters again for the same events, the oldest first, at most 500 per request. Each letter starts once"
        )
      )
      .annotateMerge(requires({ type: "call", action: "create", on: "resource", audit: "dead_letters.redrive" })),
    HttpApiEndpoint.post("discard", "/v1/dead-letters/discard", {
      payload: DiscardInput,
      success: Single("DiscardedDeadLettersResponse", DiscardedRecord)
    })
      .annotateMerge(extension("Remove the matching letters from the list, at most 500 per request; their runs stay"))
      .annotateMerge(requires({ type: "call", action: "create", on: "resource", audit: "dead_letters.discard" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Dead letters", "Deliveries whose last attempt failed")) {}
