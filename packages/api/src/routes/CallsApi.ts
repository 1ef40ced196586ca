/** Calls of functions by their names. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { Single } from "../envelope/Envelope.ts"
import { NotFoundError, PausedError, PlanRequiredError } from "../errors/ErrorSchemas.ts"
import { example } from "../openapi/FieldExample.ts"
import { EventRecord, RunRecord } from "../records/Records.ts"
import { SentJson } from "../records/Wire.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"

/** Fields of requests that start a run: the arguments, and the time to wait for the end. */
export const callFields = {
  args: Schema.optionalKey(
    Schema.Array(SentJson).annotate({ description: "Arguments; none by default", examples: [[1, 2]] })
  ),
  wait: example(
    Schema.optionalKey(
      Schema.Number.check(
        Schema.isBetween({ minimum: 0, maximum: 300 }, { message: "must be a number of seconds from 0 to 300" })
      ).annotate({ description: "Seconds to wait for the end of the run" })
    ),
    5
  )
}

const NewCall = Schema.Struct({
  fn: Schema.String.annotate({
    description: "`ns/var`, or `project:ns/var` to select a project",
    examples: ["main/add"]
  }),
  ...callFields
}).annotate({ identifier: "CallInput" })

/** Responses of endpoints that start a run: the run, or the stored event if no run has started within a second. */
export const startedRunResponses = [
  Single("BegunRunResponse", RunRecord).pipe(HttpApiSchema.status(201)),
  Single("AcceptedEventResponse", EventRecord).pipe(HttpApiSchema.status(202))
] as const

export class CallsApi extends HttpApiGroup.make("calls")
  .add(
    HttpApiEndpoint.post("call", "/v1/calls", {
      payload: NewCall,
      headers: {
        "idempotency-key": Schema.optionalKey(
          Schema.String.annotate({
            description: "Within 24 hours, requests with the same key are one call",
            examples: ["order-1042"]
          })
        )
      },
      success: startedRunResponses,
      error: [PlanRequiredError, NotFoundError, PausedError]
    })
      .annotateMerge(
        extension(
          "Call a function; returns its run after at most `wait` seconds, or 202 with the event if no run has started"
        )
      )
      .annotateMerge(requires({ type: "call", action: "create", on: "body" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Calls", "Calls of functions by their names")) {}
