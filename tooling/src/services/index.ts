/** Servers that tests and benchmarks start for themselves, on the loopback, and end again. */
export { type PostgresOptions, type PostgresServer, postgres } from "./Postgres.ts"
