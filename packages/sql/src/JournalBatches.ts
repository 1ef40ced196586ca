/** Events of batches, in the transaction that claims their deliveries. */
import { type Delivery, type Event, type EventId, takeWithinBudget } from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Database } from "./Database.ts"

/** Maximum events of batches in one claim. Those of one batch always fit. */
const eventsMax = 4_000

type BatchRow = Pick<Delivery, "env_id">
type Batched = Pick<Delivery, "batch">

interface Read<Row, Terms> {
  readonly row: Row
  readonly terms: Terms
}

/**
 * Returns the due rows with their terms, without those whose batches must wait for the next claim. A node holds the events of all
 * of them at once. Executes nothing for deliveries without batches.
 */
export const limitBatches = Effect.fnUntraced(function* <Row extends BatchRow, Terms extends Batched>(
  database: Database["Service"],
  rows: ReadonlyArray<Row>,
  terms: ReadonlyArray<Terms>
): Effect.fn.Return<{ readonly rows: ReadonlyArray<Row>; readonly terms: ReadonlyArray<Terms> }, SqlError.SqlError> {
  if (terms.every(({ batch }) => batch === undefined)) return { rows, terms }
  const all = rows.flatMap((row, index): ReadonlyArray<Read<Row, Terms>> => {
    const own = terms[index]
    return own === undefined ? [] : [{ row, terms: own }]
  })
  const counted = takeEvents(all)
  const sizes = new Map<EventId, number>()
  for (const { event_id, bytes } of yield* readSizes(database, counted)) sizes.set(event_id, bytes)
  const taken = takeWithinBudget(counted, ({ terms: { batch } }) =>
    (batch?.events ?? []).reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0)
  )
  return { rows: taken.map(({ row }) => row), terms: taken.map((each) => each.terms) }
})

/** Returns the events of the batches by id. Executes nothing without batches. */
export const loadBatches = Effect.fnUntraced(function* <Row extends BatchRow, Terms extends Batched>(
  { dialect, writer: sql }: Database["Service"],
  rows: ReadonlyArray<Row>,
  terms: ReadonlyArray<Terms>
): Effect.fn.Return<ReadonlyMap<EventId, Event>, SqlError.SqlError> {
  if (terms.every(({ batch }) => batch === undefined)) return none
  const envs = [...new Set(rows.map(({ env_id }) => env_id))]
  const ids = [...new Set(terms.flatMap(({ batch }) => batch?.events ?? []))]
  const events = yield* sql<Event>`SELECT event_id, env_id, stream_id, event_type, event_data, event_time, created_at
    FROM events WHERE env_id ${dialect.among(sql, envs)} AND event_id ${dialect.among(sql, ids)}`
  return new Map(events.map((event) => [event.event_id, event]))
})

const none: ReadonlyMap<EventId, Event> = new Map()

const readSizes = <Row extends BatchRow>(
  { dialect, writer: sql }: Database["Service"],
  all: ReadonlyArray<Read<Row, Batched>>
) => {
  const envs = [...new Set(all.map(({ row }) => row.env_id))]
  const ids = [...new Set(all.flatMap(({ terms: { batch } }) => batch?.events ?? []))]
  return sql<{ readonly event_id: EventId; readonly bytes: number }>`
    SELECT event_id, octet_length(event_data) AS bytes FROM events
    WHERE env_id ${dialect.among(sql, envs)} AND event_id ${dialect.among(sql, ids)}`
}

const takeEvents = <A extends Read<unknown, Batched>>(all: ReadonlyArray<A>): ReadonlyArray<A> => {
  let events = 0
  return all.filter(({ terms: { batch } }) => {
    if (batch === undefined) return true
    if (events > 0 && events + batch.events.length > eventsMax) return false
    events += batch.events.length
    return true
  })
}
