/** Pages of services as the list envelope wants them. */
import type { Listing } from "@weft/api"
import type { Page, PageRequest } from "@weft/core"

export const listing =
  ({ limit, offset }: PageRequest) =>
  <A>(page: Page<A>): Listing<A> => ({ items: page.items, total: page.total, limit, offset })

/** A list that is given whole, however long. */
export const wholeListing =
  (limit: number) =>
  <A>(items: ReadonlyArray<A>): Listing<A> => ({
    items,
    total: items.length,
    limit: Math.max(limit, items.length),
    offset: 0
  })
