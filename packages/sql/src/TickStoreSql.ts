/** `TickStore` on SQL. */
import { type JournalEntry, type Schedule, type ScheduleId, type Tick, TickStore } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import { batched } from "./Batch.ts"
import { Database, orUnavailable } from "./Database.ts"
import type { Rows } from "./Dialect.ts"
import { applyAll } from "./JournalCommit.ts"
import { journalStatements } from "./JournalStatements.ts"
import { makeRow } from "./rows/Row.ts"

/** The next tick of a schedule, if `read_at` is still its current one. */
const moveRow = makeRow({ schedule_id: "text", read_at: "integer", next_at: "integer", due_at: "integer" })

/** Identifies the last tick of a schedule. */
const endRow = makeRow({ schedule_id: "text", next_at: "integer" })

export const layer: Layer.Layer<TickStore, never, Database> = Layer.effect(
  TickStore,
  Effect.gen(function* () {
    const database = yield* Database
    const { dialect, writer } = database
    const statements = journalStatements(database)
    const move = batched<Pick<Schedule, "schedule_id">>(writer, dialect, {
      row: moveRow,
      text: (rows) => `WITH t (${moveRow.list}) AS (${rows})
        UPDATE schedules SET next_at = t.next_at, due_at = t.due_at FROM t
        WHERE schedules.schedule_id = t.schedule_id AND schedules.next_at = t.read_at`,
      returns: "schedules.schedule_id"
    })
    const end = batched<Pick<Schedule, "schedule_id">>(writer, dialect, {
      row: endRow,
      text: (rows) => `DELETE FROM schedules WHERE (${endRow.list}) IN (${rows})`,
      returns: "schedule_id"
    })

    const fire = Effect.fnUntraced(function* (ticks: ReadonlyArray<Tick>) {
      // Always in the same order, so that transactions cannot deadlock.
      const sorted = [...ticks].sort((a, b) => (a.schedule.schedule_id < b.schedule.schedule_id ? -1 : 1))
      const moves: Rows = []
      const ends: Rows = []
      for (const { schedule, next } of sorted) {
        if (next === null) endRow.append(ends, schedule)
        else moveRow.append(moves, { ...next, schedule_id: schedule.schedule_id, read_at: schedule.next_at })
      }
      const moved = [...(yield* move.returning(moves)), ...(yield* end.returning(ends))]
      const counted = new Set<ScheduleId>(moved.map((row) => row.schedule_id))
      const entries = ticks.flatMap(({ schedule, fired }): ReadonlyArray<JournalEntry> => {
        if (fired === null || !counted.has(schedule.schedule_id)) return []
        const { event, delivery } = fired
        return [{ _tag: "Appended", event, deliveries: [{ delivery, run: null }] }]
      })
      yield* applyAll(statements, entries)
      return [...counted]
    })

    return TickStore.of({
      fire: (ticks) =>
        writer.withTransaction(fire(ticks)).pipe(
          // The ids of new events are unique, so the row counts are as expected.
          Effect.catchTag("UnexpectedRowCount", Effect.die),
          orUnavailable("fire")
        )
    })
  })
)
