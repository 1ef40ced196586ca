/** Plans of the statements that find suspended runs among many others. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Samples } from "@weft/contract"
import { database } from "@weft/postgres"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { freshDatabase } from "./Fresh.ts"

const { envId } = Samples

/** 20,000 ended runs, 5,000 suspended ones of two environments, and 50 active ones. */
const fill = `INSERT INTO runs (env_id, run_id, stream_id, project_id, project_name, build_id, ns, var, run_type, status,
    start_time, attempt, node_id, waiting, waiting_for)
  SELECT CASE WHEN n % 2 = 0 THEN '${envId(1)}' ELSE '${envId(2)}' END,
    '01890000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'), 's', 'p', 'shop', 'b', 'main', 'f', 'event',
    CASE WHEN n < 20000 THEN 'succeeded' ELSE 'running' END, n, 1, 'node',
    CASE WHEN n BETWEEN 20000 AND 24999 THEN '{}' END,
    CASE WHEN n BETWEEN 20000 AND 24999 THEN CASE WHEN n % 20 < 2 THEN 'event' ELSE 'timer' END END
  FROM generate_series(0, 25049) AS n`

const suspended = `env_id = '${envId(1)}' AND status = 'running' AND waiting_for IS NOT NULL`

describe("the filter waiting on PostgreSQL", () => {
  it.live("reads only suspended runs, by an index", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      yield* Layer.build(database({ url }))
      const make = PgClient.makeClient({ url: Redacted.make(url), startupParameters: { search_path: "weft" } })
      const sql = yield* Effect.provide(make, Reactivity.layer)
      yield* sql.unsafe(fill)
      yield* sql.unsafe("ANALYZE runs")
      // Other partitions are empty, and their plans say nothing.
      const [{ partition } = { partition: "" }] = yield* sql<{ readonly partition: string }>`
        SELECT tableoid::regclass::text AS partition FROM runs GROUP BY 1`
      const explain = (statement: string) =>
        Effect.map(sql.unsafe(`EXPLAIN (COSTS OFF) ${statement.replace("FROM runs", `FROM ${partition}`)}`), (rows) =>
          JSON.stringify(rows)
        )
      const ofReason = (reason: string) => `FROM runs WHERE ${suspended} AND waiting_for = '${reason}'`
      for (const reason of ["timer", "event"]) {
        const page = yield* explain(`SELECT run_id ${ofReason(reason)} ORDER BY run_id DESC LIMIT 20`)
        const count = yield* explain(`SELECT count(*) ${ofReason(reason)}`)
        for (const plan of [page, count]) {
          assert.match(plan, /waiting_for_run_id_idx/, plan)
          assert.notInclude(plan, "Seq Scan")
        }
        // The few runs that wait for an event may be sorted.
        if (reason === "timer") assert.notInclude(page, "Sort", page)
      }
      const any = yield* explain(`SELECT run_id FROM runs WHERE ${suspended} ORDER BY run_id DESC LIMIT 20`)
      assert.match(any, /Index (Only )?Scan/, any)
      assert.notInclude(any, "Sort")
    }).pipe(Effect.scoped)
  )
})
