/** `WorkflowStore` on SQL. */
import type { EnvId } from "@weft/core"
import {
  type AwaitedEvents,
  type Cleanup,
  type Event,
  EventId,
  formatOutcome,
  type JsonText,
  leastIdAt,
  type RunId,
  type RunRef,
  type Timestamp,
  type WaitRecord,
  WorkflowStore
} from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import { type ArrivalWriter, arrivalWriter } from "./ArrivalWriter.ts"
import { forEachAwaiting } from "./AwaitingRuns.ts"
import { makeChildRuns } from "./ChildRunsSql.ts"
import { Database, orUnavailable } from "./Database.ts"
import { parseLogs } from "./rows/RunRows.ts"
import { type StoredStep, stepFields, toStep, waitFields } from "./rows/WorkflowRows.ts"
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

/** Maximum characters that one transaction writes into waits, each of which has a copy of its event. */
const arrivalLengthMax = 1024 * 1024

/** Maximum difference between the time in an event's id and its creation time, in milliseconds. */
const idMarginMs = 60_000

/** Returns the store. `write` gives events to waits. */
export const makeWorkflows = (database: Database["Service"], write: ArrivalWriter): WorkflowStore["Service"] => {
  const { reader: sql } = database
  const childRuns = makeChildRuns(database, write)
  const wake = makeWake(database)

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
    const ids = database.dialect.texts(
      sql,
      runs.map(({ run_id }) => run_id)
    )
    return sql<Cleanup>`SELECT run_id, cleanup_until AS until FROM runs
      WHERE env_id = ${envId} AND run_id IN (${ids}) AND cleanup_until IS NOT NULL`
  }

  const arrive = Effect.fnUntraced(function* (event: Event, at: Timestamp) {
    const found = new Set<RunId>()
    let outcome: JsonText | null = null
    yield* forEachAwaiting(database, event, (waits) => {
      const text = outcome ?? formatOutcome(event)
      outcome = text
      const size = Math.max(1, Math.floor(arrivalLengthMax / text.length))
      return Effect.forEach(chunksOf(waits, size), (chunk) =>
        Effect.andThen(
          Effect.map(write({ env_id: event.env_id, waits: chunk, outcome: text, at }), (runIds) => {
            for (const runId of runIds) found.add(runId)
          }),
          // SQLite answers at once: others have their turn between transactions.
          Effect.yieldNow
        )
      )
    })
    return [...found].map((run_id): RunRef => ({ env_id: event.env_id, run_id }))
  })

  /**
   * Returns types that runs wait for, after `last`. Waits of one type are adjacent in the index, the oldest first. So the
   * next page may skip the other waits of the last type.
   */
  const listAwaited = (last: Pick<AwaitedEvents, "env_id" | "event_type"> | undefined) => sql<AwaitedEvents>`
    SELECT env_id, event_type, min(since) AS since FROM (
      SELECT w.env_id, w.event_type, w.since FROM workflow_waits w
      WHERE w.event_type IS NOT NULL AND w.outcome IS NULL
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
    const events = yield* sql<Event>`
      SELECT event_id, env_id, stream_id, event_type, event_data, event_time, created_at FROM events
      WHERE env_id = ${env_id} AND event_id > ${from} ${until} AND event_type = ${event_type}
        AND created_at >= ${since} ORDER BY event_id LIMIT ${limit}`
    const last = events.length < limit ? end : events.at(-1)
    return { events, next: last?.event_id ?? null }
  })

  return WorkflowStore.of({
    load: (run) => load(run).pipe(orUnavailable("load")),

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

    arrive: (event, at) => arrive(event, at).pipe(orUnavailable("arrive")),

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

const chunksOf = <A>(items: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))
