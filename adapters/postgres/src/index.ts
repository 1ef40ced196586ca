export { feed } from "./PostgresFeed.ts"
export { type PostgresOptions, PostgresUnusable } from "./PostgresOptions.ts"
export { stores } from "./PostgresStores.ts"
