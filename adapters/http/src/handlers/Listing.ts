/** Conversion of pages into the list envelope. */
import { type Listing, toPageRequest } from "@weft/api"
import type { Page, PageRequest } from "@weft/core"
import { firstPage } from "@weft/core"
import { Effect } from "effect"

export const listing =
  ({ limit, offset }: PageRequest) =>
  <A>(page: Page<A>): Listing<A> => ({ items: page.items, total: page.total, limit, offset })

/** Returns a page of a complete list. */
export const pageOf = <A>(items: ReadonlyArray<A>, query: Partial<PageRequest>): Listing<A> => {
  const page = toPageRequest(query)
  return listing(page)({ items: items.slice(page.offset, page.offset + page.limit), total: items.length })
}

/** Wraps a complete list as one page. */
const wholeListing = <A>(items: ReadonlyArray<A>): Listing<A> => ({
  items,
  total: items.length,
  limit: Math.max(firstPage.limit, items.length),
  offset: 0
})

/** Returns the complete list if the query has neither `limit` nor `offset`, else one page. */
export const wholeOrPage = <A, E1, R1, E2, R2>(
  query: Partial<PageRequest>,
  whole: Effect.Effect<ReadonlyArray<A>, E1, R1>,
  page: (page: PageRequest) => Effect.Effect<Page<A>, E2, R2>
): Effect.Effect<Listing<A>, E1 | E2, R1 | R2> => {
  if (query.limit === undefined && query.offset === undefined) return Effect.map(whole, wholeListing)
  const pageRequest = toPageRequest(query)
  return Effect.map(page(pageRequest), listing(pageRequest))
}
