/** Runs that the checks of `RunStore` store and list. */
import { JournalStore, type LogEntry, type Run, type RunFilter, RunStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { ended, envId, eventId, everything, projectId, run } from "./Samples.ts"

export const start = (...runs: ReadonlyArray<Run>) =>
  Effect.flatMap(JournalStore, (journal) =>
    journal.commit(
      runs.map((started) => ({ _tag: "Started", run: started })),
      null
    )
  )

export const finish = (over: Run, logs: ReadonlyArray<LogEntry> = []) =>
  Effect.flatMap(JournalStore, (journal) => journal.commit([{ _tag: "Ended", run: over, logs }], null))

/** Returns the total and the numbers of the runs of a page. */
export const numbers = (filter: RunFilter, page = everything) =>
  Effect.gen(function* () {
    const { items, total } = yield* (yield* RunStore).list(envId(1), page, filter)
    return [total, ...items.map((item) => Number.parseInt(item.run_id.slice(-12), 16))]
  })

/** Runs of two environments, all types and states, and three projects. */
export const variety = Effect.gen(function* () {
  const other = { project_id: projectId(2), project_name: "project 2" }
  yield* start(
    run(1, { run_type: "call" }),
    run(2, { run_type: "event", event_id: eventId(1), ...other }),
    run(3, { run_type: "schedule" }),
    run(4, { run_type: "event", event_id: eventId(1) }),
    run(5, { run_type: "event", event_id: eventId(2), project_name: "old name" }),
    run(6, { run_type: "event", event_id: eventId(1), env_id: envId(2) })
  )
  yield* finish(ended(run(2, { run_type: "event", event_id: eventId(1), ...other }), { status: "failed" }))
  yield* finish(ended(run(3, { run_type: "schedule" }), { status: "cancelled" }))
  yield* finish(ended(run(4, { run_type: "event", event_id: eventId(1) })))
  yield* finish(ended(run(7, { run_type: "repl", ...other })))
})
