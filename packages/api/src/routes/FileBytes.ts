/** The bytes of a file in requests and answers. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { BadRequestError } from "../errors/ErrorSchemas.ts"

/** Bytes as they are; the handler reads them as a stream. */
export const fileBytes = HttpApiSchema.StreamUint8Array({ contentType: "application/octet-stream" })

/** Part of the file, for a request with `Range`. */
export const partOfFile = Schema.Uint8Array.pipe(
  HttpApiSchema.asUint8Array({ contentType: "application/octet-stream" }),
  HttpApiSchema.status(206)
)

export const RangeNotSatisfiable = BadRequestError.pipe(HttpApiSchema.status(416))
