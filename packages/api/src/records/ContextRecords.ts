/** Context variables on the wire: all but their values. */
import { ContextVariable } from "@weft/core"
import { Schema, Struct } from "effect"
import { Instant } from "./Wire.ts"

export const ContextVariableRecord = Schema.Struct({
  ...Struct.pick(ContextVariable.fields, ["key", "description"]),
  created_at: Instant,
  updated_at: Instant
}).annotate({ identifier: "ContextVariable" })

/** What sealing anew came to. */
export const ResealedRecord = Schema.Struct({
  key_id: Schema.String.annotate({ description: "The id of the master key that seals" }),
  resealed: Schema.Int.annotate({ description: "How many values were sealed anew" }),
  unreadable: Schema.Int.annotate({ description: "How many values no master key of this server opens" })
}).annotate({ identifier: "Resealed" })
