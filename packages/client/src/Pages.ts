/** Lists: `await` returns one page, and iteration returns all items. */

export interface PageQuery {
  /** 1 to 100; by default 20, or 100 for iterations. */
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}

/** A page of a list. `More` is what the list has besides its items. */
export type Page<T, More = unknown> = PageOf<T> & More

interface PageOf<T> {
  readonly items: ReadonlyArray<T>
  /** Number of items in the whole list. */
  readonly total: number
  readonly limit: number
  readonly offset: number
  readonly has_more: boolean
}

const limitMax = 100

/**
 *     const page = await weft.runs.list({ limit: 10 })
 *     for await (const run of weft.runs.list()) …
 *
 * Pages are loaded on demand. Changes of the list during an iteration shift the following items. Additions before the
 * current position repeat items, and removals skip items.
 */
export class Pages<T, More = unknown> implements PromiseLike<Page<T, More>>, AsyncIterable<T> {
  readonly #load: (page: PageQuery) => Promise<Page<T, More>>
  readonly #query: PageQuery
  #first: Promise<Page<T, More>> | undefined

  constructor(load: (page: PageQuery) => Promise<Page<T, More>>, { limit, offset }: PageQuery) {
    this.#load = load
    this.#query = { limit, offset }
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a list returns the requested page
  then<A = Page<T, More>, B = never>(
    onFulfilled?: ((page: Page<T, More>) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null
  ): Promise<A | B> {
    this.#first ??= this.#load(this.#query)
    return this.#first.then(onFulfilled, onRejected)
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Page<T, More> | B> {
    return this.then(undefined, onRejected)
  }

  /** Yields the pages from the requested one to the last. */
  async *pages(): AsyncGenerator<Page<T, More>, void, undefined> {
    const { limit = limitMax, offset = 0 } = this.#query
    for (let at = offset; ; ) {
      const page = await this.#load({ limit, offset: at })
      yield page
      if (!page.has_more || page.items.length === 0) return
      at += page.items.length
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const { items } of this.pages()) yield* items
  }
}
