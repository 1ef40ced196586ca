/** Bytes of a file in requests and responses. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { BadRequestError } from "../errors/ErrorSchemas.ts"

/** Raw bytes, which the handler reads as a stream. */
export const fileBytes = HttpApiSchema.StreamUint8Array({ contentType: "application/octet-stream" })

/** A part of the file, for a request with `Range`. */
export const partOfFile = Schema.Uint8Array.pipe(
  HttpApiSchema.asUint8Array({ contentType: "application/octet-stream" }),
  HttpApiSchema.status(206)
)

export const RangeNotSatisfiable = BadRequestError.pipe(HttpApiSchema.status(416))
