/**
 * Envelopes of successful responses (specification, "Response envelopes").
 *
 * They are schema transformations: handlers and the typed client use the plain value, and only the wire format has the
 * envelope.
 */
import { Schema, SchemaTransformation } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { currentRequestId, currentTimestamp } from "./RequestInfo.ts"

export const Meta = Schema.Struct({
  request_id: Schema.String.annotate({ format: "uuid", description: "Equal to the header X-Request-Id" }),
  timestamp: Schema.String.annotate({ format: "date-time" })
}).annotate({ identifier: "Meta" })

export const Pagination = Schema.Struct({
  total: Schema.Int,
  limit: example(Schema.Int, 20),
  offset: example(Schema.Int, 0),
  has_more: example(Schema.Boolean, false)
}).annotate({ identifier: "Pagination" })

/** Body of every error. The specification lists the values of `code`. */
export const ErrorBody = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, message: Schema.String, request_id: Schema.String })
})
export type ErrorBody = typeof ErrorBody.Type

/** Returns the `meta` of the current response. */
export const meta = () => ({ request_id: currentRequestId(), timestamp: currentTimestamp() })

/** Schema of `{ data, meta }` on the wire, and `data` in code. `identifier` is the name of the OpenAPI component. */
export const Single = <A, I>(identifier: string, item: Schema.Codec<A, I>) =>
  Schema.Struct({ data: item, meta: Meta })
    .annotate({ identifier })
    .pipe(
      Schema.decodeTo(
        Schema.toType(item),
        SchemaTransformation.transform({
          decode: (wire) => wire.data,
          encode: (data) => ({ data, meta: meta() })
        })
      )
    )

/** A page of a list in code, with the requested range and the total. */
export interface Listing<A> {
  readonly items: ReadonlyArray<A>
  readonly total: number
  readonly limit: number
  readonly offset: number
}

/** Schema of `{ data, pagination, meta }` on the wire, and a `Listing` in code. */
export const List = <A, I>(identifier: string, item: Schema.Codec<A, I>) =>
  Schema.Struct({ data: Schema.Array(item), pagination: Pagination, meta: Meta })
    .annotate({ identifier })
    .pipe(
      Schema.decodeTo(
        Schema.Struct({
          items: Schema.Array(Schema.toType(item)),
          total: Schema.Int,
          limit: Schema.Int,
          offset: Schema.Int
        }),
        SchemaTransformation.transform({
          decode: ({ data, pagination: { has_more: _, ...page } }) => ({ items: data, ...page }),
          encode: ({ items, ...page }) => ({
            data: items,
            pagination: { ...page, has_more: page.offset + items.length < page.total },
            meta: meta()
          })
        })
      )
    )
