/** Flags, pagination and tables of commands that list records. */
import type { PageQuery, Pages } from "@weft/client"
import { Effect } from "effect"
import { Flag } from "effect/cli"
import { switchFlag } from "../input/Switch.ts"
import { Output } from "../output/Output.ts"
import { type Column, tableLines } from "../output/Table.ts"

export const listingFlags = {
  limit: Flag.Int("limit").pipe(
    Flag.filter(
      (limit) => limit > 0,
      () => "Expected: a positive number"
    ),
    Flag.withDescription("Maximum number to show, 20 by default"),
    Flag.withDefault(20)
  ),
  all: switchFlag("all", "Show all")
}

export interface ListOptions {
  readonly limit: number
  readonly all: boolean
}

export interface ListResult<T> {
  readonly items: ReadonlyArray<T>
  /** Length of the whole list. */
  readonly total: number
}

const pageMax = 100

/** Loads pages until the limit is reached. */
export const loadPages = async <T>(
  { limit, all }: ListOptions,
  load: (page: PageQuery) => Pages<T>
): Promise<ListResult<T>> => {
  const itemsMax = all ? Number.POSITIVE_INFINITY : limit
  const items: Array<T> = []
  let total = 0
  for await (const page of load({ limit: Math.min(itemsMax, pageMax) }).pages()) {
    total = page.total
    items.push(...page.items.slice(0, itemsMax - items.length))
    if (items.length >= itemsMax) break
  }
  return { items, total }
}

/** Prints a table, or the records as JSON. */
export const printTable = Effect.fnUntraced(function* <T>(
  columns: ReadonlyArray<Column<T>>,
  { items, total }: ListResult<T>,
  /** Message for an empty list. */
  nothing: string
) {
  const output = yield* Output
  const width = yield* output.columns
  if (items.length > 0 || output.json) yield* output.print(items, () => tableLines(columns, items, width).join("\n"))
  else yield* output.note(nothing)
  if (items.length < total) yield* output.note(`${items.length} of ${total}: --all shows all`)
})
