/** Descriptors of rows: a field of a record becomes a column, and no other code depends on its position. */
import { assert, describe, it } from "@effect/vitest"
import { Run } from "@weft/core/adapter"
import { Record as Records, Schema, Struct } from "effect"
import * as fc from "fast-check"
import type { Value } from "../src/Dialect.ts"
import { deriveColumns } from "../src/rows/Columns.ts"
import { eventCountRow, runCountRow } from "../src/rows/CountRows.ts"
import { deliveryRow, pendingRow, unparkRow } from "../src/rows/DeliveryRows.ts"
import { eventRow } from "../src/rows/EventRows.ts"
import { leaseRow } from "../src/rows/LeaseRow.ts"
import { makeRow, type Row, rowConverter } from "../src/rows/Row.ts"
import {
  endedRow,
  endRow,
  requeueRow,
  runBatchRow,
  runColumns,
  runKeyRow,
  settledRow,
  startRow
} from "../src/rows/RunRows.ts"
import { continueRow, stepCountRow, stepRow, suspendRow, waitKeyRow, waitRow } from "../src/rows/WorkflowRows.ts"

const value: fc.Arbitrary<Value> = fc.oneof(fc.string(), fc.integer(), fc.double({ noNaN: true }), fc.constant(null))

/** Random records with the columns of the row. */
const records = <Name extends string>({ at, width }: Row<Name>): fc.Arbitrary<Array<Readonly<Record<Name, Value>>>> =>
  fc.array(
    fc
      .array(value, { minLength: width, maxLength: width })
      .map((values) => Records.map(at, (position) => values[position] ?? null)),
    { maxLength: 5 }
  )

/** Returns the records of rows as a statement reads them: the columns are named in SQL. */
const decode = ({ list, width }: Row<string>, rows: ReadonlyArray<Value>) =>
  Array.from({ length: rows.length / width }, (_, index) =>
    Object.fromEntries(list.split(", ").map((name, column) => [name, rows[index * width + column]]))
  )

const roundTrips = <Name extends string>(name: string, row: Row<Name>): void =>
  it(`encodes any records so that its statement reads the same (${name})`, () => {
    fc.assert(
      fc.property(records(row), (all) => {
        const unrelated = all.map((record) => ({ unrelated: "text", ...record }))
        assert.deepStrictEqual<unknown>(decode(row, row.encode(unrelated)), all)
      })
    )
  })

const commonColumns = [
  "env_id",
  "run_id",
  "status",
  "stop_time",
  "result",
  "cpu_ms",
  "wall_ms",
  "heap_bytes",
  "logs"
] as const

describe("a row", () => {
  roundTrips("eventRow", eventRow)
  roundTrips("deliveryRow", deliveryRow)
  roundTrips("pendingRow", pendingRow)
  roundTrips("unparkRow", unparkRow)
  roundTrips("startRow", startRow)
  roundTrips("endedRow", endedRow)
  roundTrips("endRow", endRow)
  roundTrips("settledRow", settledRow)
  roundTrips("requeueRow", requeueRow)
  roundTrips("runKeyRow", runKeyRow)
  roundTrips("runBatchRow", runBatchRow)
  roundTrips("eventCountRow", eventCountRow)
  roundTrips("runCountRow", runCountRow)
  roundTrips("leaseRow", leaseRow)
  roundTrips("stepRow", stepRow)
  roundTrips("stepCountRow", stepCountRow)
  roundTrips("waitRow", waitRow)
  roundTrips("waitKeyRow", waitKeyRow)
  roundTrips("suspendRow", suspendRow)
  roundTrips("continueRow", continueRow)

  it("is converted into another one by the names of its columns", () => {
    const toEnd = rowConverter(endedRow, endRow)
    fc.assert(
      fc.property(records(endedRow), (all) => {
        const expected = all.map((record) => ({
          ...Struct.pick(record, commonColumns),
          ...{ delivery_id: null, dead_since: null }
        }))
        assert.deepStrictEqual<unknown>(
          all.flatMap((record) => decode(endRow, toEnd(endedRow.encode([record])))),
          expected
        )
      })
    )
  })
})

describe("a field of Run", () => {
  it("is a column of the statements that insert a run and read it", () => {
    const written = new Set<string>([...startRow.names, ...endRow.names, ...suspendRow.names, ...runBatchRow.names])
    for (const field of Struct.keys(Run.fields)) {
      assert.isTrue(written.has(field), `${field} is not written when a run starts or ends`)
      // A run without a delivery is never durable, and has no batch.
      if (!["activations", "waiting", "steps", "event_ids"].includes(field)) assert.include(endedRow.names, field)
      assert.include(runColumns.split(", "), field)
    }
  })

  it("has the column type of its schema", () => {
    const fields = {
      ...Run.fields,
      sample_integer: Schema.Int,
      sample_real: Schema.NullOr(Schema.Number),
      sample_literal: Schema.NullOr(Schema.Literals(["eu", "us"])),
      sample_branded: Schema.String.pipe(Schema.brand("Sample"))
    }
    const columns = deriveColumns(fields)
    assert.deepStrictEqual(
      Struct.pick(columns, [
        "sample_integer",
        "sample_real",
        "sample_literal",
        "sample_branded",
        "attempt",
        "stop_time",
        "wall_ms",
        "status"
      ]),
      {
        ...{ sample_integer: "integer", sample_real: "real", sample_literal: "text", sample_branded: "text" },
        ...{ attempt: "integer", stop_time: "integer", wall_ms: "real", status: "text" }
      }
    )
    assert.strictEqual(
      makeRow(columns).list,
      `${makeRow(deriveColumns(Run.fields)).list}, sample_integer, sample_real, sample_literal, sample_branded`
    )
  })

  it("must be text or a number", () => {
    const mixed: Schema.Codec<string | number> = Schema.Union([Schema.String, Schema.Int])
    assert.throws(() => deriveColumns({ mixed }), "No column type stores the field mixed")
  })
})
