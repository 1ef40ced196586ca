/** The programs of the job suites. */
import type { Contender } from "../Suite.ts"
import type { Service } from "./Services.ts"

export interface Program extends Pick<Contender, "name" | "isLimit" | "limit" | "needs"> {
  readonly file: URL
  /** Server that the program uses; undefined if it needs none or starts its own. */
  readonly service?: Service
  /** Variant that is passed to the program. */
  readonly variant?: string
}

const at = (path: string): URL => new URL(path, import.meta.url)

export const rawSqlite: Program = { name: "raw SQLite", file: at("../targets/rawSqlite.ts"), isLimit: true }

export const rawPostgres: Program = {
  name: "raw PostgreSQL",
  file: at("../targets/rawPostgres.ts"),
  service: "postgres",
  isLimit: true
}

/** Returns both programs of Weft in a variant of `weftProgram.ts`. */
export const weft = (variant: "jobs" | "latency" | "steps"): ReadonlyArray<Program> => [
  { name: "Weft, SQLite", file: at("../targets/weftProgram.ts"), variant, limit: rawSqlite.name },
  {
    name: "Weft, PostgreSQL",
    file: at("../targets/weftProgram.ts"),
    variant,
    service: "postgres",
    limit: rawPostgres.name
  }
]

const weftWorkflows = at("../targets/weftWorkflows.ts")

/** The programs of workflows of Weft. */
export const workflowsOnSqlite: Program = { name: "Weft, SQLite", file: weftWorkflows, limit: rawSqlite.name }
export const workflowsOnPostgres: Program = {
  name: "Weft, PostgreSQL",
  file: weftWorkflows,
  service: "postgres",
  limit: rawPostgres.name
}

/** Returns a limit in its variant of `WorkflowProgram`. */
export const asWorkflows = (limit: Program): Program => ({ ...limit, variant: "workflows" })

/** Returns a peer. All peers are compared with the limit on PostgreSQL. */
const peer = (name: string, file: string, service?: Service, variant?: string): Program => ({
  name,
  file: at(file),
  limit: rawPostgres.name,
  needs: "peers",
  ...(service === undefined ? {} : { service }),
  ...(variant === undefined ? {} : { variant })
})

export const graphileWorker = peer("graphile-worker", "../../peers/src/graphileWorker.ts", "postgres")
export const graphileWorkerBare = peer(
  "graphile-worker, no results",
  "../../peers/src/graphileWorker.ts",
  "postgres",
  "no results"
)
export const pgBoss = peer("pg-boss", "../../peers/src/pgBoss.ts", "postgres")
export const pgBossNotified = peer("pg-boss", "../../peers/src/pgBoss.ts", "postgres", "latency")
export const dbos = peer("DBOS", "../../peers/src/dbos.ts", "postgres")
export const bullmqRedis = peer("BullMQ, Redis", "../../peers/src/bullmq.ts", "redis")
export const bullmqPostgres = peer("BullMQ, PostgreSQL", "../../peers/src/bullmq.ts", "postgres")
export const restate = peer("Restate", "../../peers/src/restate.ts")
export const dbosWorkflows = peer("DBOS", "../../peers/src/dbosWorkflows.ts", "postgres")
export const restateWorkflows = peer("Restate", "../../peers/src/restateWorkflows.ts")
