/** Query parameters `limit` and `offset` of lists (decisions section 2). */
import type { PageRequest } from "@weft/core"
import { firstPage } from "@weft/core"
import { Schema, SchemaTransformation } from "effect"

/**
 * Schema of an integer in digits: `1e1`, ` 5` and `+5` are invalid.
 *
 * @param contentSchema the JSON schema of the integer, which the document has instead of that of the text
 */
export const digits = (pattern: RegExp, expected: string, contentSchema: Schema.JsonObject) =>
  Schema.optionalKey(
    Schema.String.annotate({ contentMediaType: "application/json", contentSchema })
      .check(Schema.isPattern(pattern, { message: expected }))
      .pipe(Schema.decodeTo(Schema.Int, SchemaTransformation.numberFromString))
  )

const limit = (range: Schema.JsonObject) =>
  digits(/^(?:[1-9][0-9]?|100)$/, "must be an integer from 1 to 100", {
    type: "integer",
    minimum: 1,
    maximum: 100,
    examples: [20],
    ...range
  })

const offset = (range: Schema.JsonObject) =>
  digits(/^[0-9]{1,15}$/, "must be an integer of at least 0", { type: "integer", minimum: 0, examples: [0], ...range })

export const pageQuery = {
  limit: limit({ default: firstPage.limit }),
  offset: offset({ default: firstPage.offset })
}

/** The page of a list that is complete by default. */
export const optionalPageQuery = { limit: limit({}), offset: offset({}) }

/** Returns the page of a query, with defaults. */
export const toPageRequest = (query: { readonly limit?: number; readonly offset?: number }): PageRequest => ({
  limit: query.limit ?? firstPage.limit,
  offset: query.offset ?? firstPage.offset
})
