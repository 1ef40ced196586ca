/** The tables of the journal have the columns that its rows are stored in, with their types. */
import { assert, describe, it } from "@effect/vitest"
import {
  Database,
  deliveryRow,
  endedRow,
  endRow,
  eventRow,
  runBatchRow,
  sqlite,
  startRow,
  stepRow,
  suspendRow,
  waitRow
} from "@weft/sql"
import { Effect } from "effect"
import { sharedDatabase } from "./Shared.ts"

type Described = Pick<typeof eventRow, "types"> & { readonly names: ReadonlyArray<string> }

/** The column that only updates set, when something holds a delivery. */
const heldRow: Described = { names: ["held_since"], types: ["integer"] }

/** Rows of each table, without their columns of other tables. */
const described: Record<string, ReadonlyArray<readonly [row: Described, ...others: ReadonlyArray<string>]>> = {
  events: [[eventRow]],
  deliveries: [[deliveryRow], [heldRow]],
  runs: [[startRow], [endedRow], [endRow], [runBatchRow], [suspendRow, "at", "due_at", "ended"]],
  // Only the holder of the delivery may write.
  workflow_steps: [[stepRow, "delivery_id"]],
  workflow_waits: [[waitRow, "delivery_id"]]
}

/** Returns the types by the names of the columns, sorted. */
const toTypes = (columns: ReadonlyArray<readonly [name: string, type: string]>) =>
  Object.fromEntries([...columns].sort(([a], [b]) => (a < b ? -1 : 1)))

describe("a table of the journal", () => {
  for (const [table, rows] of Object.entries(described)) {
    it.effect(`has the columns of its rows (${table})`, () =>
      Effect.gen(function* () {
        const { reader } = yield* Database
        const columns = yield* reader<{
          name: string
          type: string
        }>`SELECT name, type FROM pragma_table_info(${table})`
        assert.deepStrictEqual(
          toTypes(columns.map(({ name, type }) => [name, type])),
          toTypes(
            rows.flatMap(([{ names, types }, ...others]) =>
              names.flatMap((name, index) =>
                others.includes(name) ? [] : [[name, sqlite.types[types[index] ?? "text"]] as const]
              )
            )
          )
        )
      }).pipe(Effect.provide(sharedDatabase))
    )
  }
})
