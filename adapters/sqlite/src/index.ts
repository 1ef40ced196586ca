export { DatabaseInUse, DatabaseUnusable } from "./Errors.ts"
export { type SqliteOptions, type SqliteStores, stores } from "./SqliteStores.ts"
