/** Completions of tokens of durable runs. */
import { Run } from "@weft/core/adapter"
import { Schema } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { Instant, SentJson } from "./Wire.ts"

/** The body of a completion. */
export const TokenCompletionInput = Schema.Struct({
  data: Schema.optionalKey(
    SentJson.annotate({
      description: "What the function receives, at most 256 KiB of JSON; null by default",
      examples: [{ approved: true }]
    })
  )
})
  // A struct without required fields accepts arrays.
  .check(Schema.makeFilter((input) => !Array.isArray(input), { message: "must be an object" }))
  .annotate({ identifier: "TokenCompletionInput" })

/** A completed token, without its data. */
export const CompletedTokenRecord = Schema.Struct({
  token_id: example(Schema.String, "01970d40-1e50-7c37-ad4a-7e5b2c8f6408:1"),
  run_id: Run.fields.run_id,
  name: example(Schema.String, "approval"),
  completed_at: Instant
}).annotate({ identifier: "CompletedToken" })
