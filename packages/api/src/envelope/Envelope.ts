/**
 * The envelopes of successes (specification, "Response envelopes").
 *
 * They are schema transformations: handlers and the typed client see the bare value, only the wire has the wrapping.
 */
import { Schema, SchemaTransformation } from "effect"
import { currentRequestId, currentTimestamp } from "./RequestInfo.ts"

export const Meta = Schema.Struct({
  request_id: Schema.String.annotate({ format: "uuid", description: "Equal to the header X-Request-Id" }),
  timestamp: Schema.String.annotate({ format: "date-time" })
}).annotate({ identifier: "Meta" })

export const Pagination = Schema.Struct({
  total: Schema.Int,
  limit: Schema.Int,
  offset: Schema.Int,
  has_more: Schema.Boolean
}).annotate({ identifier: "Pagination" })

/** The body of every failure. `code` is one of the specification's. */
export const ErrorBody = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, message: Schema.String, request_id: Schema.String })
})
export type ErrorBody = typeof ErrorBody.Type

/** Of the answer that is being made. */
export const meta = () => ({ request_id: currentRequestId(), timestamp: currentTimestamp() })

/** `{ data, meta }` on the wire, `data` alone in code. `identifier` names the component in OpenAPI. */
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

/** A page of a list as handlers give it: what was asked for and what there is. */
export interface Listing<A> {
  readonly items: ReadonlyArray<A>
  readonly total: number
  readonly limit: number
  readonly offset: number
}

/** `{ data, pagination, meta }` on the wire, a `Listing` in code. */
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
