/**
 * Finds the waits that an event ends.
 *
 * The waits of a type are indexed by one of their pairs. A query skips from path to path in the index, so that only waits
 * with the value of the event at their path are read. All reads are short.
 */
import {
  type Event,
  EventValues,
  isAwaited,
  keyInEvent,
  type MatchKey,
  type RunId,
  type WaitRecord
} from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError, Statement } from "effect/sql"
import type { Database } from "./Database.ts"
import { isRunning } from "./StatementText.ts"

/** Maximum paths that one statement skips over. */
const pathsMax = 100

/** Maximum waits per statement. */
const waitsMax = 500

export type FoundWait = Pick<WaitRecord, "seq" | "match" | "since" | "until"> & { readonly run_id: RunId }

/** Calls `onFound` with the waits of running runs that the event ends, some at a time. */
export const forEachAwaiting = Effect.fnUntraced(function* <E>(
  { reader: sql }: Database["Service"],
  event: Event,
  onFound: (waits: ReadonlyArray<FoundWait>) => Effect.Effect<unknown, E>
): Effect.fn.Return<void, E | SqlError.SqlError> {
  const { env_id, event_type } = event
  const ofType = sql`env_id = ${env_id} AND event_type = ${event_type} AND event_type IS NOT NULL AND outcome IS NULL`

  /** Returns the first paths of the waits of the type from `first` on, in order. */
  const listPaths = (first: Statement.Fragment) =>
    Effect.map(
      sql<{ readonly path: string }>`
        WITH RECURSIVE paths (path) AS (
          SELECT min(match_path) FROM workflow_waits WHERE ${ofType} AND ${first}
          UNION ALL
          SELECT (SELECT min(match_path) FROM workflow_waits WHERE ${ofType} AND match_path > paths.path)
          FROM paths WHERE paths.path IS NOT NULL
        ) SELECT path FROM paths WHERE path IS NOT NULL LIMIT ${pathsMax}`,
      (rows) => rows.map(({ path }) => path)
    )

  const listWaits = ({ path, value }: MatchKey, after: { readonly run_id: string; readonly seq: number }) =>
    sql<FoundWait>`
      SELECT w.run_id, w.seq, w.match, w.since, w.until FROM workflow_waits w
      WHERE ${ofType} AND match_path = ${path} AND match_value = ${value}
        AND (w.run_id, w.seq) > (${after.run_id}, ${after.seq})
        AND EXISTS (SELECT 1 FROM runs r
          WHERE r.env_id = w.env_id AND r.run_id = w.run_id AND ${sql.literal(isRunning("r"))})
      ORDER BY w.run_id, w.seq LIMIT ${waitsMax}`

  let paths = yield* listPaths(sql`match_path >= ''`)
  if (paths.length === 0) return
  const values = new EventValues(event)
  while (paths.length > 0) {
    yield* Effect.yieldNow
    for (const path of paths) {
      const key = keyInEvent(values, path)
      if (key === undefined) continue
      let waits = yield* listWaits(key, { run_id: "", seq: 0 })
      while (waits.length > 0) {
        const found = waits.filter((wait) => isAwaited({ ...wait, event_type, outcome: null }, event, values))
        if (found.length > 0) yield* onFound(found)
        // SQLite answers at once: others have their turn between pages.
        yield* Effect.yieldNow
        const last = waits.at(-1)
        waits = last === undefined || waits.length < waitsMax ? [] : yield* listWaits(key, last)
      }
    }
    const last = paths.at(-1) ?? ""
    paths = paths.length < pathsMax ? [] : yield* listPaths(sql`match_path > ${last}`)
  }
})
