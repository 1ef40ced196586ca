/** Pages of lists: requests, results and the size limit. */
import { Effect, Schema } from "effect"
import { BadRequest } from "./Errors.ts"

export const PageRequest = Schema.Struct({
  /** Maximum number of items, 1 to 100. */
  limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })),
  /** Number of items to skip, at least 0. */
  offset: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
})
export type PageRequest = typeof PageRequest.Type

export const firstPage: PageRequest = { limit: 20, offset: 0 }

export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** Number of items on all pages. */
  readonly total: number
}

/**
 * Maximum size of a page in bytes, counting only the fields whose size callers decide. A page ends before the item that
 * would exceed it, but has at least one item. To read and send such a page takes a few milliseconds of the main thread.
 */
export const pageBytesMax = 4 * 1024 * 1024

/** Maximum size of a list that has no pages, counted as for a page. */
const wholeBytesMax = 32 * 1024 * 1024

const itemsPerPage = 100

/** Returns the number of items, from the first, that a page may have. `sizes` are those of the items in bytes. */
export const countOfPage = (sizes: ReadonlyArray<number>): number => {
  let total = 0
  const tooMany = sizes.findIndex((bytes, at) => {
    total += bytes
    return at > 0 && total > pageBytesMax
  })
  return tooMany === -1 ? sizes.length : tooMany
}

/** Fails if the items of a list without pages have more bytes than such a list may have. */
export const checkWholeBytes = (bytes: number): Effect.Effect<void, BadRequest> =>
  bytes > wholeBytesMax ? Effect.fail(new BadRequest({ reason: tooLarge(bytes) })) : Effect.void

const tooLarge = (bytes: number): string =>
  `limit: the whole list has over ${toMiB(bytes)} MiB, and the maximum is ${toMiB(wholeBytesMax)} MiB; request pages with limit and offset`

const toMiB = (bytes: number): number => Math.floor(bytes / 1024 ** 2)

/** Reads the items of all pages of a list. */
export const allItems = Effect.fnUntraced(function* <A, E, R>(
  list: (page: PageRequest) => Effect.Effect<Page<A>, E, R>
): Effect.fn.Return<ReadonlyArray<A>, E, R> {
  const items: Array<A> = []
  while (true) {
    const page = yield* list({ limit: itemsPerPage, offset: items.length })
    items.push(...page.items)
    if (page.items.length === 0 || items.length >= page.total) return items
  }
})
