export * from "./Errors.ts"
export * from "./SqliteStores.ts"
