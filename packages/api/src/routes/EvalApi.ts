/** Evaluation of source text that was not deployed. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { Single } from "../envelope/Envelope.ts"
import { ContentDamagedError, NotFoundError, PlanRequiredError } from "../errors/ErrorSchemas.ts"
import { example } from "../openapi/FieldExample.ts"
import { EvaluationRecord } from "../records/EvaluationRecord.ts"
import { SentJson } from "../records/Wire.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"

const EvaluationInput = Schema.Struct({
  source: Schema.String.annotate({
    description:
      "TypeScript or JavaScript: an expression, the body of an async function with `args`, or a module that exports a function as its default",
    examples: ["args[0] * 2"]
  }),
  args: Schema.optionalKey(
    Schema.Array(SentJson).annotate({ description: "Arguments; none by default", examples: [[21]] })
  ),
  project: Schema.optionalKey(
    Schema.String.annotate({
      description: "Project whose build the source can use as `weft:build`, with its secrets; without it none",
      examples: ["orders"]
    })
  ),
  build_id: Schema.optionalKey(
    Schema.String.annotate({ description: "Build of the project; `deployed` by default", examples: ["deployed"] })
  ),
  timeout: example(
    Schema.optionalKey(Schema.Number.annotate({ description: "Seconds, above 0 and at most 60; 30 by default" })),
    5
  )
}).annotate({ identifier: "EvaluationInput" })

export class EvalApi extends HttpApiGroup.make("eval")
  .add(
    HttpApiEndpoint.post("run", "/v1/eval", {
      payload: EvaluationInput,
      success: Single("EvaluationResponse", EvaluationRecord),
      error: [PlanRequiredError, NotFoundError, ContentDamagedError]
    })
      .annotateMerge(
        extension(
          "Run source text; returns its result, log and usage. With `Accept: text/event-stream`, messages `log` and then `result`"
        )
      )
      .annotateMerge(requires({ type: "eval", action: "execute", on: "resource", audit: "eval.run" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Evaluation", "Source text that runs without a deployment")) {}
