/** The programs that the suites about jobs measure. */
import type { Contender } from "../Suite.ts"
import type { Service } from "./Services.ts"

export interface Program extends Pick<Contender, "name" | "isLimit" | "limit" | "needs"> {
  readonly file: URL
  /** The server that it uses; none where it brings its own. */
  readonly service?: Service
  /** Handed to the program. */
  readonly variant?: string
}

const target = (name: string): URL => new URL(`../targets/${name}.ts`, import.meta.url)

export const rawSqlite: Program = { name: "raw SQLite", file: target("rawSqlite"), isLimit: true }

export const rawPostgres: Program = {
  name: "raw PostgreSQL",
  file: target("rawPostgres"),
  service: "postgres",
  isLimit: true
}

/** `variant` as the program has it. */
export const weft = (variant: "jobs" | "latency" | "steps"): ReadonlyArray<Program> => [
  { name: "Weft, SQLite", file: target("weftProgram"), variant, limit: rawSqlite.name },
  { name: "Weft, PostgreSQL", file: target("weftProgram"), variant, service: "postgres", limit: rawPostgres.name }
]

/** All that have a server are compared with the same limit. */
const peer = (name: string, file: string, service?: Service, variant?: string): Program => ({
  name,
  file: new URL(`../../peers/src/${file}.ts`, import.meta.url),
  limit: rawPostgres.name,
  needs: "peers",
  ...(service === undefined ? {} : { service }),
  ...(variant === undefined ? {} : { variant })
})

export const graphileWorker = peer("graphile-worker", "graphileWorker", "postgres")
export const graphileWorkerBare = peer("graphile-worker, no results", "graphileWorker", "postgres", "no results")
export const pgBoss = peer("pg-boss", "pgBoss", "postgres")
export const pgBossNotified = peer("pg-boss", "pgBoss", "postgres", "latency")
export const dbos = peer("DBOS", "dbos", "postgres")
export const bullmqRedis = peer("BullMQ, Redis", "bullmq", "redis")
export const bullmqPostgres = peer("BullMQ, PostgreSQL", "bullmq", "postgres")
export const restate = peer("Restate", "restate")
