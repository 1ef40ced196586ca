/** Pages of services as the list envelope wants them. */
import { type Listing, pageOf } from "@weft/api"
import { firstPage, type Page, type PageRequest } from "@weft/core"
import { Effect } from "effect"

export const listing =
  ({ limit, offset }: PageRequest) =>
  <A>(page: Page<A>): Listing<A> => ({ items: page.items, total: page.total, limit, offset })

/** A list that is given whole, however long. */
const wholeListing = <A>(items: ReadonlyArray<A>): Listing<A> => ({
  items,
  total: items.length,
  limit: Math.max(firstPage.limit, items.length),
  offset: 0
})

/** Lists that are whole where neither `limit` nor `offset` is given, else a page. */
export const wholeOrPage = <A, E1, R1, E2, R2>(
  query: Partial<PageRequest>,
  whole: Effect.Effect<ReadonlyArray<A>, E1, R1>,
  page: (page: PageRequest) => Effect.Effect<Page<A>, E2, R2>
): Effect.Effect<Listing<A>, E1 | E2, R1 | R2> => {
  if (query.limit === undefined && query.offset === undefined) return Effect.map(whole, wholeListing)
  const asked = pageOf(query)
  return Effect.map(page(asked), listing(asked))
}
