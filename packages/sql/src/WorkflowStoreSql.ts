/** `WorkflowStore` on SQL. */
import type { EnvId } from "@weft/core"
import {
  type AwaitedEvents,
  type Cleanup,
  countOfPage,
  type Event,
  EventId,
  leastIdAt,
  type RunId,
  type RunRef,
  type Timestamp,
  type WaitRecord,
  WorkflowStore
} from "@weft/core/adapter"
import { Array as Arr, Effect, Layer } from "effect"
import { type ArrivalWriter, arrivalWriter, writeInParts } from "./ArrivalWriter.ts"
import { forEachAwaiting } from "./AwaitingRuns.ts"
import { makeChildRuns } from "./ChildRunsSql.ts"
import { Database, orUnavailable } from "./Database.ts"
import { loadLargeTexts, textIfSmall } from "./LargeTexts.ts"
import { parseLogs } from "./rows/RunRows.ts"
import { type StoredStep, stepFields, toStep, waitFields } from "./rows/WorkflowRows.ts"
import { makeLoadSmall } from "./SmallHistories.ts"
import { isRunning } from "./StatementText.ts"
import { workflowReads } from "./WorkflowReads.ts"
import { makeWake } from "./WorkflowWake.ts"

export const layer: Layer.Layer<WorkflowStore, never, Database> = Layer.effect(
  WorkflowStore,
  Effect.map(Database, (database) => makeWorkflows(database, arrivalWriter(database)))
)

/** Maximum waits that one statement reads to find their types. */
const waitsMax = 1_000

/** Maximum events that one statement examines. */
const eventsMax = 5_000

/** Maximum difference between the time in an event's id and its creation time, in milliseconds. */
const idMarginMs = 60_000

/** Returns the store. `write` gives events to waits. */
export const makeWorkflows = (database: Database["Service"], write: ArrivalWriter): WorkflowStore["Service"] => {
  const { dialect, reader: sql } = database
  const childRuns = makeChildRuns(database, write)
  const wake = makeWake(database)
  const loadSmall = makeLoadSmall(database)

  const load = Effect.fnUntraced(function* ({ env_id, run_id }: RunRef) {
    const of = sql`env_id = ${env_id} AND run_id = ${run_id}`
    const steps = yield* sql<StoredStep>`
      SELECT ${sql.literal(stepFields)} FROM workflow_steps WHERE ${of} ORDER BY position`
    const waits = yield* sql<WaitRecord>`SELECT ${sql.literal(waitFields)} FROM workflow_waits WHERE ${of} ORDER BY seq`
    const [run] = yield* sql<{ logs: string | null; cleanup_until: Timestamp | null }>`
      SELECT logs, cleanup_until FROM runs WHERE ${of}`
    const history = { steps: steps.map(toStep), waits }
    return { history, logs: parseLogs(run?.logs ?? null), cleanup_until: run?.cleanup_until ?? null }
  })

  const listCleanups = ([envId, runs]: readonly [EnvId, ReadonlyArray<RunRef>]) => {
    const ids = dialect.among(
      sql,
      runs.map(({ run_id }) => run_id)
    )
    return sql<Cleanup>`SELECT run_id, cleanup_until AS until FROM runs
      WHERE env_id = ${envId} AND run_id ${ids} AND cleanup_until IS NOT NULL`
  }

  const arrive = Effect.fnUntraced(function* (events: ReadonlyArray<Event>, at: Timestamp) {
    if (!Arr.isReadonlyArrayNonEmpty(events)) return []
    const [{ env_id }] = events
    const found = new Set<RunId>()
    yield* forEachAwaiting(database, events, (waits) =>
      Effect.map(writeInParts(write, { env_id, waits, at }), (runIds) => {
        for (const runId of runIds) found.add(runId)
      })
    )
    return [...found].map((run_id): RunRef => ({ env_id, run_id }))
  })

  /**
   * Returns types that runs wait for, after `last`. Waits of one type are adjacent in the index, the oldest first. So the
   * next page may skip the other waits of the last type.
   */
  const listAwaited = (last: Pick<AwaitedEvents, "env_id" | "event_type"> | undefined) => sql<AwaitedEvents>`
    SELECT env_id, event_type, min(since) AS since FROM (
      SELECT w.env_id, w.event_type, w.since FROM workflow_waits w
      WHERE w.event_type IS NOT NULL AND w.outcome IS NULL AND w.since >= 0
        AND (w.env_id, w.event_type) > (${last?.env_id ?? ""}, ${last?.event_type ?? ""})
        AND EXISTS (SELECT 1 FROM runs r
          WHERE r.env_id = w.env_id AND r.run_id = w.run_id AND ${sql.literal(isRunning("r"))})
      ORDER BY w.env_id, w.event_type, w.since LIMIT ${waitsMax}
    ) AS oldest GROUP BY env_id, event_type ORDER BY env_id, event_type`

  const awaited = Effect.gen(function* () {
    const found: Array<AwaitedEvents> = []
    while (true) {
      const page = yield* listAwaited(found.at(-1))
      if (page.length === 0) return found
      for (const each of page) found.push(each)
      // SQLite answers at once: others have their turn between pages.
      yield* Effect.yieldNow
    }
  })

  /** Examines one page of the primary key. */
  const eventsSince = Effect.fnUntraced(function* (
    { env_id, event_type, since }: AwaitedEvents,
    after: EventId | null,
    limit: number
  ) {
    const from = after ?? leastIdAt(EventId, since - idMarginMs)
    const [end] = yield* sql<Pick<Event, "event_id">>`SELECT event_id FROM events
      WHERE env_id = ${env_id} AND event_id > ${from} ORDER BY event_id LIMIT 1 OFFSET ${eventsMax - 1}`
    const until = end === undefined ? sql.literal("") : sql`AND event_id <= ${end.event_id}`
    const found = yield* sql<Event & { readonly text_bytes: number }>`
      SELECT event_id, env_id, stream_id, event_type, ${textIfSmall(sql, "event_data")}, event_time, created_at FROM events
      WHERE env_id = ${env_id} AND event_id > ${from} ${until} AND event_type = ${event_type}
        AND created_at >= ${since} ORDER BY event_id LIMIT ${limit}`
    const page = found.slice(0, countOfPage(found.map(({ text_bytes }) => text_bytes)))
    const events = yield* loadLargeTexts(
      page,
      "event_id",
      (ids) => sql<Event>`SELECT * FROM events WHERE env_id = ${env_id} AND event_id ${dialect.among(sql, ids)}`,
      ({ text_bytes, ...event }): Event => event
    )
    const isAll = page.length === found.length && found.length < limit
    const last = isAll ? end : page.at(-1)
    return { events, next: last?.event_id ?? null }
  })

  return WorkflowStore.of({
    load: (run) => load(run).pipe(orUnavailable("load")),

    loadSmall: (envId, runs) => loadSmall(envId, runs).pipe(orUnavailable("loadSmall")),

    cleanups: (runs) =>
      Effect.forEach(
        Map.groupBy(runs, ({ env_id }) => env_id),
        listCleanups
      ).pipe(
        Effect.map((found) => found.flat()),
        orUnavailable("cleanups")
      ),

    ...workflowReads(database),

    wake: (run, at) => database.writer.withTransaction(wake(run, at)).pipe(orUnavailable("wake")),

    awaited: awaited.pipe(orUnavailable("awaited")),

    arrive: (events, at) => arrive(events, at).pipe(orUnavailable("arrive")),

    children: (after, limit) => childRuns.children(after, limit).pipe(orUnavailable("children")),

    endChildren: (children, at) => childRuns.endChildren(children, at).pipe(orUnavailable("endChildren")),

    arrived: ({ env_id, run_id }) =>
      sql<WaitRecord>`SELECT ${sql.literal(waitFields)} FROM workflow_waits
        WHERE env_id = ${env_id} AND run_id = ${run_id} AND outcome IS NOT NULL ORDER BY seq`.pipe(
        orUnavailable("arrived")
      ),

    eventsSince: (of, after, limit) => eventsSince(of, after, limit).pipe(orUnavailable("eventsSince"))
  })
}
