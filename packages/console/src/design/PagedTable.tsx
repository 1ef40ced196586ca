/**
 * A table of any length: it renders the visible rows only, and loads the pages of those rows only.
 *
 * Cells are in a grid of columns, whose widths are a class.
 */
import { createVirtualizer } from "@tanstack/solid-virtual"
import { createEffect, createSignal, For, type JSX, on, onCleanup, Show } from "solid-js"
import { formatCount } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { ErrorNotice } from "./Feedback.tsx"

export interface RowPage<T> {
  readonly items: ReadonlyArray<T>
  readonly total: number
}

export interface PagedTableProps<T> {
  /** Name of the table for screen readers. */
  readonly label: string
  /** Class that sets `grid-template-columns`. */
  readonly columns: string
  readonly headers: ReadonlyArray<string>
  /** Changes with the filters. The table then starts again at its top. */
  readonly version: string
  /** Loads the rows from the offset on. `previous` is the row before them, if it is loaded. */
  readonly load: (offset: number, limit: number, signal: AbortSignal, previous?: T) => Promise<RowPage<T>>
  readonly row: (row: T) => JSX.Element
  /** Shown instead of the table without a row. */
  readonly empty: JSX.Element
  /** Shown at the end of the footer. */
  readonly footer?: JSX.Element
}

const rowHeight = 41
const pageSize = 100

export const PagedTable = <T,>(props: PagedTableProps<T>): JSX.Element => {
  const [pages, setPages] = createSignal<ReadonlyMap<number, ReadonlyArray<T>>>(new Map())
  const [total, setTotal] = createSignal<number | null>(null)
  const [error, setError] = createSignal<unknown>()
  let controller = new AbortController()
  const requested = new Set<number>()
  let scroller: HTMLDivElement | undefined

  const rowAt = (index: number): T | undefined => pages().get(Math.floor(index / pageSize))?.[index % pageSize]

  const loadPage = async (page: number): Promise<void> => {
    if (requested.has(page)) return
    requested.add(page)
    const { signal } = controller
    try {
      const previous = rowAt(page * pageSize - 1)
      const found = await props.load(page * pageSize, pageSize, signal, previous)
      if (signal.aborted) return
      setTotal((known) => (page === 0 ? found.total : Math.max(known ?? 0, found.total)))
      setPages((known) => new Map(known).set(page, found.items))
    } catch (failure) {
      if (!signal.aborted) setError(failure)
    }
  }

  const restart = (): void => {
    controller.abort()
    controller = new AbortController()
    requested.clear()
    setError(undefined)
    scroller?.scrollTo({ top: 0 })
    // The rows stay until their replacements arrive, so that nothing flickers.
    void loadPage(0).then(() => setPages((known) => new Map([...known].filter(([page]) => requested.has(page)))))
  }

  createEffect(on(() => props.version, restart))
  onCleanup(() => controller.abort())

  const virtualizer = createVirtualizer<HTMLDivElement, HTMLElement>({
    get count() {
      return total() ?? 0
    },
    getScrollElement: () => scroller ?? null,
    estimateSize: () => rowHeight,
    overscan: 12
  })

  createEffect(() => {
    for (const { index } of virtualizer.getVirtualItems()) void loadPage(Math.floor(index / pageSize))
  })

  return (
    <div class="card vtable">
      <Show when={error()}>{(failure) => <ErrorNotice error={failure()} onRetry={restart} />}</Show>
      <Show when={total() === 0}>{props.empty}</Show>
      {/* It exists from the start, because the virtualizer observes the element that it finds then. */}
      <div
        class="vtable-scroll"
        hidden={total() === 0}
        role="table"
        aria-label={props.label}
        aria-rowcount={(total() ?? 0) + 1}
        tabindex="0"
        ref={(element) => {
          scroller = element
        }}
      >
        <div class="vtable-head" role="rowgroup">
          <div class={`columns ${props.columns}`} role="row" aria-rowindex="1">
            <For each={props.headers}>{(header) => <span role="columnheader">{header}</span>}</For>
          </div>
        </div>
        <div class="vtable-rows" role="rowgroup" style={{ height: `${virtualizer.getTotalSize()}px` }}>
          <For each={virtualizer.getVirtualItems()}>
            {(item) => (
              <div
                class="vtable-row"
                role="row"
                aria-rowindex={item.index + 2}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <div class={`columns ${props.columns}`} role="presentation">
                  <Show when={rowAt(item.index)} fallback={<Ghost count={props.headers.length} />}>
                    {(row) => props.row(row())}
                  </Show>
                </div>
              </div>
            )}
          </For>
        </div>
      </div>
      <div class="vtable-foot">
        <span role="status">{total() === null ? t().common.loading : t().common.total(formatCount(total() ?? 0))}</span>
        {props.footer}
      </div>
    </div>
  )
}

const Ghost = (props: { readonly count: number }): JSX.Element => (
  <For each={Array.from({ length: props.count })}>
    {() => (
      <span role="cell">
        <span class="ghost" />
      </span>
    )}
  </For>
)
