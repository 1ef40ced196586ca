export { feed } from "./PostgresFeed.ts"
export { type PostgresOptions, PostgresUnusable } from "./PostgresOptions.ts"
export { database, stores, storesOn } from "./PostgresStores.ts"
