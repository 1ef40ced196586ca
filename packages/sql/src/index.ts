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
  sqlite
} from "./Dialect.ts"
export { migrate, migrateTo } from "./Migrations.ts"
export { journalStore, rateStore, recordStores } from "./SqlStores.ts"
