/**
 * Finds the waits that events end.
 *
 * The waits of a type are indexed by one of their pairs. A query skips from path to path in the index, so that only waits
 * with the value of an event at their path are read. All reads are short.
 */
import {
  type Event,
  EventValues,
  formatOutcome,
  isAwaited,
  type JsonText,
  keyInEvent,
  type RunId,
  type WaitRecord
} from "@weft/core/adapter"
import { type Array as Arr, Effect } from "effect"
import type { SqlError, Statement } from "effect/sql"
import type { EndedWait } from "./ArrivalWriter.ts"
import type { Database } from "./Database.ts"
import { isRunning } from "./StatementText.ts"

/** Maximum paths that one statement skips over. */
const pathsMax = 100

/** Maximum waits per statement. */
const waitsMax = 500

/** Maximum comparisons of a wait with an event until others have their turn. */
const comparisonsMax = 1_000

type FoundWait = Pick<WaitRecord, "seq" | "match" | "since" | "until"> & { readonly run_id: RunId }

/** An event whose values and outcome are read once, because any number of waits may need them. */
interface Candidate {
  readonly event: Event
  readonly values: EventValues
  readonly outcome: () => JsonText
}

const toCandidate = (event: Event): Candidate => {
  let outcome: JsonText | null = null
  return {
    event,
    values: new EventValues(event),
    outcome: () => {
      outcome ??= formatOutcome(event)
      return outcome
    }
  }
}

/**
 * Calls `onFound` with the waits of running runs that the events of one environment and type end, some at a time. Each wait
 * takes the first of the events that end it.
 */
export const forEachAwaiting = Effect.fnUntraced(function* <E>(
  { dialect, reader: sql }: Database["Service"],
  events: Arr.NonEmptyReadonlyArray<Event>,
  onFound: (waits: ReadonlyArray<EndedWait>) => Effect.Effect<unknown, E>
): Effect.fn.Return<void, E | SqlError.SqlError> {
  const [{ env_id, event_type }] = events
  const ofType = sql`env_id = ${env_id} AND event_type = ${event_type} AND event_type IS NOT NULL AND outcome IS NULL`
  const isOfRunning = sql`EXISTS (SELECT 1 FROM runs r
    WHERE r.env_id = w.env_id AND r.run_id = w.run_id AND ${sql.literal(isRunning("r"))})`

  /** The least path of the type from `first` on, or null: one entry of the index. */
  const nextPath = (first: Statement.Fragment) =>
    sql`SELECT match_path FROM workflow_waits WHERE ${ofType} AND match_path ${first} ORDER BY match_path LIMIT 1`

  /** Returns the first paths of the waits of the type from `first` on, in order. */
  const listPaths = (first: Statement.Fragment) =>
    Effect.map(
      sql<{ readonly path: string }>`
        WITH RECURSIVE paths (path) AS (
          SELECT (${nextPath(first)})
          UNION ALL
          SELECT (${nextPath(sql.literal("> paths.path"))}) FROM paths WHERE paths.path IS NOT NULL
        ) SELECT path FROM paths WHERE path IS NOT NULL LIMIT ${pathsMax}`,
      (rows) => rows.map(({ path }) => path)
    )

  /** Lists waits with one of several values at a path, in no particular order. */
  const listSome = (path: string, values: ReadonlyArray<string>) =>
    sql<FoundWait & { readonly value: string }>`
      SELECT w.match_value AS value, w.run_id, w.seq, w.match, w.since, w.until FROM workflow_waits w
      WHERE ${ofType} AND match_path = ${path} AND match_value ${dialect.among(sql, values)} AND ${isOfRunning}
      LIMIT ${waitsMax}`

  /** Lists waits with a value at a path, in their order. */
  const listWaits = (path: string, value: string, after: { readonly run_id: string; readonly seq: number }) =>
    sql<FoundWait>`
      SELECT w.run_id, w.seq, w.match, w.since, w.until FROM workflow_waits w
      WHERE ${ofType} AND match_path = ${path} AND match_value = ${value}
        AND (w.run_id, w.seq) > (${after.run_id}, ${after.seq}) AND ${isOfRunning}
      ORDER BY w.run_id, w.seq LIMIT ${waitsMax}`

  /** Gives those of the waits that one of their candidates ends to `onFound`. */
  const end = Effect.fnUntraced(function* <Wait extends FoundWait>(
    waits: ReadonlyArray<Wait>,
    candidatesOf: (wait: Wait) => ReadonlyArray<Candidate>
  ): Effect.fn.Return<void, E> {
    const ended: Array<EndedWait> = []
    let compared = 0
    for (const wait of waits) {
      const candidates = candidatesOf(wait)
      const awaiting = { ...wait, event_type, outcome: null }
      const first = candidates.find(({ event, values }) => isAwaited(awaiting, event, values))
      if (first !== undefined) ended.push({ run_id: wait.run_id, seq: wait.seq, outcome: first.outcome() })
      compared += candidates.length
      if (compared >= comparisonsMax) {
        compared = 0
        yield* Effect.yieldNow
      }
    }
    if (ended.length > 0) yield* onFound(ended)
  })

  const endAllWith = Effect.fnUntraced(function* (path: string, value: string, candidates: ReadonlyArray<Candidate>) {
    let waits = yield* listWaits(path, value, { run_id: "", seq: 0 })
    while (waits.length > 0) {
      yield* end(waits, () => candidates)
      // SQLite answers at once: others have their turn between pages.
      yield* Effect.yieldNow
      const last = waits.at(-1)
      waits = last === undefined || waits.length < waitsMax ? [] : yield* listWaits(path, value, last)
    }
  })

  const endAt = Effect.fnUntraced(function* (path: string, candidates: ReadonlyArray<Candidate>) {
    const byValue = groupByValue(path, candidates)
    // Most values have few waits, so that one statement finds those of all events.
    if (byValue.size > 1) {
      const waits = yield* listSome(path, [...byValue.keys()])
      if (waits.length < waitsMax) return yield* end(waits, ({ value }) => byValue.get(value) ?? [])
    }
    for (const [value, own] of byValue) yield* endAllWith(path, value, own)
  })

  let paths = yield* listPaths(sql.literal(">= ''"))
  if (paths.length === 0) return
  const candidates = events.map(toCandidate)
  while (paths.length > 0) {
    for (const path of paths) {
      yield* Effect.yieldNow
      yield* endAt(path, candidates)
    }
    const last = paths.at(-1) ?? ""
    paths = paths.length < pathsMax ? [] : yield* listPaths(sql`> ${last}`)
  }
})

/** Groups events by their value at a path as waits have it. Those without one are left out. */
const groupByValue = (path: string, candidates: ReadonlyArray<Candidate>): Map<string, Array<Candidate>> => {
  const byValue = new Map<string, Array<Candidate>>()
  for (const candidate of candidates) {
    const key = keyInEvent(candidate.values, path)
    if (key === undefined) continue
    const known = byValue.get(key.value)
    if (known === undefined) byValue.set(key.value, [candidate])
    else known.push(candidate)
  }
  return byValue
}
