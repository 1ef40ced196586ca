export { hostAdmissions } from "./AdmissionStoreSql.ts"
export { type Arrival, type ArrivalWriter, arrivalWriter } from "./ArrivalWriter.ts"
export { CountDeltas } from "./CountDeltas.ts"
export { Database, orUnavailable, repeatConflicts } from "./Database.ts"
export {
  type ColumnType,
  type Dialect,
  type Expected,
  type Part,
  type Rows,
  type RowsForm,
  sqlite,
  UnexpectedRowCount,
  type Value
} from "./Dialect.ts"
export { SchemaTooNew } from "./Generation.ts"
export { entryProgress } from "./JournalProgress.ts"
export { journalStatements } from "./JournalStatements.ts"
export { migrate, migrateTo } from "./Migrations.ts"
export { deliveryRow, toDeliveryRow } from "./rows/DeliveryRows.ts"
export { eventRow } from "./rows/EventRows.ts"
export { type Positions, rowConverter } from "./rows/Row.ts"
export {
  endedRow,
  endRow,
  logsText,
  requeueRow,
  setEnded,
  settledRow,
  startRow,
  textBytes,
  toEndRow,
  toRequeueRow,
  toStartRow
} from "./rows/RunRows.ts"
export {
  holderRow,
  stepColumns,
  stepCountRow,
  stepRow,
  suspendRow,
  toHolder,
  waitKeyRow,
  waitRow
} from "./rows/WorkflowRows.ts"
export { type SealedColumn, sealedColumns } from "./SealedColumns.ts"
export { journalStore, rateStore, recordStores } from "./SqlStores.ts"
export { makeWorkflows } from "./WorkflowStoreSql.ts"
