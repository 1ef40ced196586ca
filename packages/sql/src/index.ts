export { Database } from "./Database.ts"
export { type Dialect, sqlite } from "./Dialect.ts"
export { migrate, migrateTo } from "./Migrations.ts"
export { journalStore, recordStores } from "./SqlStores.ts"
