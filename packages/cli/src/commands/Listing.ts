/** What commands that list have in common: how many, and how they are shown. */
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
      () => "Expected: a number from 1 on"
    ),
    Flag.withDescription("How many to show at most, 20 by default"),
    Flag.withDefault(20)
  ),
  all: switchFlag("all", "Show all of them")
}

export interface Wanted {
  readonly limit: number
  readonly all: boolean
}

export interface Listed<T> {
  readonly items: ReadonlyArray<T>
  /** Of the whole list. */
  readonly total: number
}

const pageMax = 100

/** As many as are wanted, in as many pages as it takes. */
export const listed = async <T>({ limit, all }: Wanted, load: (page: PageQuery) => Pages<T>): Promise<Listed<T>> => {
  const wanted = all ? Number.POSITIVE_INFINITY : limit
  const items: Array<T> = []
  let total = 0
  for await (const page of load({ limit: Math.min(wanted, pageMax) }).pages()) {
    total = page.total
    items.push(...page.items.slice(0, wanted - items.length))
    if (items.length >= wanted) break
  }
  return { items, total }
}

/** A table for people, the records as they are for programs. */
export const printTable = Effect.fnUntraced(function* <T>(
  columns: ReadonlyArray<Column<T>>,
  { items, total }: Listed<T>,
  /** What to say when there is nothing. */
  nothing: string
) {
  const output = yield* Output
  const width = yield* output.columns
  if (items.length > 0 || output.json) yield* output.print(items, () => tableLines(columns, items, width).join("\n"))
  else yield* output.note(nothing)
  if (items.length < total) yield* output.note(`${items.length} of ${total}: --all shows all of them`)
})
