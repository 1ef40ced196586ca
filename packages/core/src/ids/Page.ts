/** Lists: what a caller asks for and what it gets. */
import { Effect, Schema } from "effect"

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

const itemsAtOnce = 100

/** The items of all pages of a list. */
export const allItems = Effect.fnUntraced(function* <A, E, R>(
  list: (page: PageRequest) => Effect.Effect<Page<A>, E, R>
): Effect.fn.Return<ReadonlyArray<A>, E, R> {
  const items: Array<A> = []
  while (true) {
    const page = yield* list({ limit: itemsAtOnce, offset: items.length })
    items.push(...page.items)
    if (page.items.length === 0 || items.length >= page.total) return items
  }
})
