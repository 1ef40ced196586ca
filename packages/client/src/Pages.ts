/** Lists: one page when awaited, everything when iterated. */

export interface PageQuery {
  /** 1 to 100; 20 by default, and 100 when everything is iterated. */
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}

export interface Page<T> {
  readonly items: ReadonlyArray<T>
  /** Of the whole list. */
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
 * Pages are loaded as they are needed. A list that grows or shrinks meanwhile shifts: what was added in front of a
 * place is seen twice there, and what follows something removed may be missed.
 */
export class Pages<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  readonly #load: (page: PageQuery) => Promise<Page<T>>
  readonly #query: PageQuery
  #first: Promise<Page<T>> | undefined

  constructor(load: (page: PageQuery) => Promise<Page<T>>, { limit, offset }: PageQuery) {
    this.#load = load
    this.#query = { limit, offset }
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a list gives the page that was asked for
  then<A = Page<T>, B = never>(
    onFulfilled?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null
  ): Promise<A | B> {
    this.#first ??= this.#load(this.#query)
    return this.#first.then(onFulfilled, onRejected)
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Page<T> | B> {
    return this.then(undefined, onRejected)
  }

  /** From the page that was asked for to the last one. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
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
