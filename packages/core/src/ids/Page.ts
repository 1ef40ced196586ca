/** Lists: what a caller asks for and what it gets. */
import { Effect, Schema } from "effect"
import { BadRequest, PageTooLarge } from "../errors/Errors.ts"

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

/**
 * What the items of a page may have together, in bytes, of what callers decide the size of. Whoever reads a list holds
 * all of a page at once, some of it as objects that take twenty times as much as their text.
 */
export const pageBytesMax = 32 * 1024 * 1024

const itemsAtOnce = 100

/** Fails as a list of one page does when its items are larger together than a page may be. */
export const checkPageBytes = (bytes: number): Effect.Effect<void, PageTooLarge> =>
  bytes > pageBytesMax ? Effect.fail(new PageTooLarge({ bytes })) : Effect.void

/** For who asked for the page: how to get what there is. */
export const askForLess = <A, E, R>(list: Effect.Effect<A, E, R>) =>
  Effect.catchIf(
    list,
    isPageTooLarge,
    ({ bytes }) => Effect.fail(new BadRequest({ reason: tooLarge(bytes) })),
    (error) => Effect.fail(error)
  )

const isPageTooLarge = Schema.is(PageTooLarge)

const tooLarge = (bytes: number): string =>
  `limit: what this page would have is ${toMiB(bytes)} MiB, and ${toMiB(pageBytesMax)} is the most: ask for fewer at once`

const toMiB = (bytes: number): number => Math.ceil(bytes / 1024 ** 2)

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
