export { copyDatabase, type DatabaseContents } from "./DatabaseCopy.ts"
export { DatabaseInUse, DatabaseUnusable } from "./Errors.ts"
export { database, type SqliteOptions, type SqliteStores } from "./SqliteStores.ts"
