/** `limit` and `offset` of lists (decisions section 2). */
import { firstPage, type PageRequest } from "@weft/core"
import { Schema, SchemaTransformation } from "effect"

/** Digits only: `1e1`, ` 5` and `+5` are not integers of a query. */
const digits = (pattern: RegExp, expected: string) =>
  Schema.String.check(Schema.isPattern(pattern, { message: expected })).pipe(
    Schema.decodeTo(Schema.Int, SchemaTransformation.numberFromString)
  )

export const pageQuery = {
  limit: Schema.optionalKey(digits(/^(?:[1-9][0-9]?|100)$/, "must be an integer from 1 to 100")),
  offset: Schema.optionalKey(digits(/^[0-9]{1,15}$/, "must be an integer of at least 0"))
}

/** The page that a query asks for, the defaults filled in. */
export const pageOf = (query: { readonly limit?: number; readonly offset?: number }): PageRequest => ({
  limit: query.limit ?? firstPage.limit,
  offset: query.offset ?? firstPage.offset
})
