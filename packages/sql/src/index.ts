export { hostAdmissions } from "./AdmissionStoreSql.ts"
export { Database, orUnavailable, repeatConflicts } from "./Database.ts"
export {
  type ColumnType,
  type Dialect,
  type Expected,
  NotAllCount,
  type Part,
  type Rows,
  type RowsForm,
  sqlite,
  type Value
} from "./Dialect.ts"
export {
  addDelivery,
  addEnd,
  addEnded,
  addEvent,
  addGivenBack,
  addStart,
  journalStatements,
  logsText,
  storedBytesOf
} from "./JournalStatements.ts"
export { migrate, migrateTo } from "./Migrations.ts"
export { journalStore, rateStore, recordStores } from "./SqlStores.ts"
export { Tally } from "./Tally.ts"
