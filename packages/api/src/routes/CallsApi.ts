/** Calling functions by their names. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Single } from "../envelope/Envelope.ts"
import { NotFoundError, PlanRequiredError } from "../errors/ErrorSchemas.ts"
import { EventRecord, RunRecord } from "../records/Records.ts"
import { SentJson } from "../records/Wire.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"

const NewCall = Schema.Struct({
  fn: Schema.String.annotate({ description: "`ns/var`, or `project:ns/var` to choose among projects" }),
  args: Schema.optionalKey(Schema.Array(SentJson).annotate({ description: "None by default" })),
  wait: Schema.optionalKey(
    Schema.Number.check(
      Schema.isBetween({ minimum: 0, maximum: 300 }, { message: "must be a number of seconds from 0 to 300" })
    ).annotate({ description: "Seconds to wait for the end of the run" })
  )
}).annotate({ identifier: "CallInput" })

/** What begins a run answers with it, or, where none has begun within a second, with the event that is stored. */
export const begun = [
  Single("BegunRunResponse", RunRecord).pipe(HttpApiSchema.status(201)),
  Single("AcceptedEventResponse", EventRecord).pipe(HttpApiSchema.status(202))
] as const

export class CallsApi extends HttpApiGroup.make("calls")
  .add(
    HttpApiEndpoint.post("call", "/v1/calls", {
      payload: NewCall,
      headers: {
        "idempotency-key": Schema.optionalKey(
          Schema.String.annotate({ description: "Requests with the same key are one call, for 24 hours" })
        )
      },
      success: begun,
      error: [PlanRequiredError, NotFoundError]
    }).annotateMerge(
      extension("Call a function: its run, ended if it does within `wait`, or 202 with the event if none has begun yet")
    )
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Calls", "Functions called by their names")) {}
