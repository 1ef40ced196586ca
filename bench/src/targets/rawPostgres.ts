/** The limit on PostgreSQL: the driver alone writes the same rows, one statement per group. No user code runs. */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"
import { makeJob, toResult } from "../programs/JobProgram.ts"
import { serve } from "../programs/Serve.ts"
import { Starts } from "../programs/Starts.ts"
import { GroupCommit, workflowsOf } from "./GroupCommit.ts"

const tables = [
  "CREATE TABLE events (id BIGINT PRIMARY KEY, data TEXT)",
  "CREATE TABLE deliveries (id BIGINT PRIMARY KEY, event BIGINT)",
  "CREATE TABLE runs (id BIGINT PRIMARY KEY, event BIGINT, status TEXT, result TEXT)"
]

/** The commit, with JSON parameters: $1 are the events, $2 the results. */
const commitText = `
  WITH begun AS (SELECT * FROM jsonb_to_recordset($1::jsonb) AS begun (id BIGINT, data TEXT)),
    ended AS (SELECT * FROM jsonb_to_recordset($2::jsonb) AS ended (id BIGINT, result TEXT)),
    events AS (INSERT INTO events SELECT id, data FROM begun),
    deliveries AS (INSERT INTO deliveries SELECT id, id FROM begun),
    runs AS (INSERT INTO runs SELECT id, id, 'running', NULL FROM begun),
    results AS (UPDATE runs SET status = 'succeeded', result = ended.result FROM ended WHERE runs.id = ended.id)
  DELETE FROM deliveries USING ended WHERE deliveries.id = ended.id`

await serve(async ({ url = "", variant }) => {
  const scope = Scope.makeUnsafe()
  const connection = await Effect.runPromise(
    PgConnection.make({ url: Redacted.make(url), prepare: true }).pipe(Scope.provide(scope))
  )
  const query = (text: string, ...parameters: ReadonlyArray<unknown>) =>
    Effect.runPromise(connection.query(text, parameters))
  for (const table of tables) await query(table)
  const starts = new Starts()
  const group = new GroupCommit(async (begun, ended) => {
    await query(
      commitText,
      JSON.stringify(begun.map((n) => ({ id: n, data: JSON.stringify(makeJob(n)) }))),
      JSON.stringify(ended.map((n) => ({ id: n, result: JSON.stringify(toResult(n)) })))
    )
  })
  const settings = {
    durability: "same as the PostgreSQL server",
    tuned: "one connection, one statement for all pending jobs"
  }
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  if (variant === "workflows") return { settings, ...workflowsOf(group), close }
  return {
    settings,
    publish: async (n) => {
      await group.begin(n)
      starts.record(n)
    },
    publishMany: async (first, count) => {
      await Promise.all(Array.from({ length: count }, (_, index) => group.begin(first + index)))
    },
    finished: async () => group.ended,
    result: async (n) => {
      const { rows } = await query("SELECT result FROM runs WHERE id = $1 AND status = 'succeeded'", n)
      return JSON.parse(String(rows[0]?.result))
    },
    startedAt: (n) => starts.of(n),
    flow: async (n) => {
      for (const step of [0, 1, 2]) await group.begin(-3 * n - step - 1)
    },
    close
  }
})
