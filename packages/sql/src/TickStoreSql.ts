/** `TickStore` on SQL. */
import { type JournalEntry, type Schedule, type ScheduleId, type Tick, TickStore } from "@weft/core"
import { Effect, Layer } from "effect"
import { batched } from "./Batch.ts"
import { Database, orUnavailable } from "./Database.ts"
import type { Rows } from "./Dialect.ts"
import { applyAll } from "./JournalCommit.ts"
import { journalStatements } from "./JournalStatements.ts"

export const layer: Layer.Layer<TickStore, never, Database> = Layer.effect(
  TickStore,
  Effect.gen(function* () {
    const database = yield* Database
    const { dialect, writer } = database
    const statements = journalStatements(database)
    const move = batched<Pick<Schedule, "schedule_id">>(writer, dialect, {
      columns: ["text", "integer", "integer", "integer"],
      text: (rows) => `WITH t (schedule_id, read_at, next_at, due_at) AS (${rows})
        UPDATE schedules SET next_at = t.next_at, due_at = t.due_at FROM t
        WHERE schedules.schedule_id = t.schedule_id AND schedules.next_at = t.read_at`,
      returns: "schedules.schedule_id"
    })
    const end = batched<Pick<Schedule, "schedule_id">>(writer, dialect, {
      columns: ["text", "integer"],
      text: (rows) => `DELETE FROM schedules WHERE (schedule_id, next_at) IN (${rows})`,
      returns: "schedule_id"
    })

    const fire = Effect.fnUntraced(function* (ticks: ReadonlyArray<Tick>) {
      // In one order everywhere, so that nobody waits for each other in a circle.
      const sorted = [...ticks].sort((a, b) => (a.schedule.schedule_id < b.schedule.schedule_id ? -1 : 1))
      const moves: Rows = []
      const ends: Rows = []
      for (const { schedule, next } of sorted) {
        const { schedule_id, next_at } = schedule
        if (next === null) ends.push(schedule_id, next_at)
        else moves.push(schedule_id, next_at, next.next_at, next.due_at)
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
          // The ids of new events are new.
          Effect.catchTag("NotAllCount", Effect.die),
          orUnavailable("fire")
        )
    })
  })
)
