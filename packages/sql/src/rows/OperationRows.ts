/** Rows of the table `operations`. */
import { formatOf, StoredOperation } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import type { RowOf } from "../Database.ts"

/** Columns with JSON text. */
const texts = ["filter", "options", "functions", "failures"] as const

type Texts = { readonly [K in (typeof texts)[number]]: string | null }

export type OperationRow = Omit<RowOf<StoredOperation>, keyof Texts> & Texts

/** SQL of the columns of an operation. */
export const operationColumns: string = Struct.keys(StoredOperation.fields).join(", ")

export const toOperation = ({ filter, options, functions, failures, ...row }: OperationRow): StoredOperation => ({
  ...row,
  ...decodeTexts({ filter, options, functions: functions ?? "null", failures })
})

/** Returns the row of a new operation. */
export const toOperationRow = ({ filter, options, functions, failures, ...operation }: StoredOperation) => ({
  ...operation,
  filter: JSON.stringify(filter),
  options: JSON.stringify(options),
  functions: functions === null ? null : JSON.stringify(functions),
  failures: JSON.stringify(failures),
  format: formatOf({ kind: operation.kind, filter }),
  lease_until: 0
})

const { filter, options, functions, failures } = StoredOperation.fields

const decodeTexts = Schema.decodeUnknownSync(
  Schema.Struct({
    filter: Schema.fromJsonString(filter),
    options: Schema.fromJsonString(options),
    functions: Schema.fromJsonString(functions),
    failures: Schema.fromJsonString(failures)
  })
)
