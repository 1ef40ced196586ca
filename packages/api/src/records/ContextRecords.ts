/** Wire format of context variables, without their values. */
import { ContextVariable } from "@weft/core/adapter"
import { Schema } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { Instant } from "./Wire.ts"

export const ContextVariableRecord = Schema.Struct({
  key: example(ContextVariable.fields.key, "STRIPE_KEY"),
  description: example(ContextVariable.fields.description, "For payments"),
  created_at: Instant,
  updated_at: Instant
}).annotate({ identifier: "ContextVariable" })

/** Result of a key rotation. */
export const ResealedRecord = Schema.Struct({
  key_id: Schema.String.annotate({ description: "Id of the current master key", examples: ["5a1c9e07"] }),
  resealed: Schema.Int.annotate({ description: "Number of values that were encrypted again with it" }),
  unreadable: Schema.Int.annotate({ description: "Number of values that no master key of this server decrypts" })
}).annotate({ identifier: "Resealed" })
