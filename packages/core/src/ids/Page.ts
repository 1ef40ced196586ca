/** Lists: what a caller asks for and what it gets. */
import { Schema } from "effect"

export const PageRequest = Schema.Struct({
  /** How many items at most, 1 to 100. */
  limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })),
  /** How many items to pass over, at least 0. */
  offset: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
})
export type PageRequest = typeof PageRequest.Type

export const firstPage: PageRequest = { limit: 20, offset: 0 }

export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** How many items there are in all, whatever the page. */
  readonly total: number
}
