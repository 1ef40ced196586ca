/**
 * Stores the logs of long runs while they run, so that other nodes can read them and they survive a crash of this node.
 *
 * Each write replaces the complete log, because a secret that is read later must also be masked in earlier entries.
 */
import { Effect, Layer } from "effect"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import type { LogEntry } from "../runs/Run.ts"
import { RunControlStore, type RunLog } from "../runs/RunControlStore.ts"
import { type ActiveRun, ActiveRuns, type RunLogBuffer } from "./ActiveRuns.ts"
import { maskLog } from "./maskLog.ts"

/** Interval of passes in milliseconds. The log of a shorter run is written once, at its end. */
const intervalMs = 1_000

/** Characters of a log per second until it is written again, so that one long log does not occupy the disk. */
const charactersPerSecond = 262_144

/** Maximum logs per transaction. */
const batch = 20

interface FlushedLog {
  readonly entries: number
  readonly nextAt: number
}

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* RunControlStore
    const activeRuns = yield* ActiveRuns
    let flushed = new Map<RunLogBuffer, FlushedLog>()

    /** Writes the logs of these runs, and stops those that have ended in the store. */
    const write = Effect.fnUntraced(function* (due: ReadonlyArray<ActiveRun>) {
      const logs: Array<RunLog> = []
      for (const { run, logged } of due) {
        const entries = yield* maskLog(logged.logs, logged.secrets)
        logs.push({ env_id: run.env_id, run_id: run.run_id, entries })
      }
      const statuses = yield* store.log(logs)
      const now = yield* currentTime
      for (const [index, { run, logged }] of due.entries()) {
        const status = statuses[index] ?? null
        const entries = logs[index]?.entries ?? []
        // A webhook's run may not be stored yet.
        if (status === null) continue
        if (status !== "running" && activeRuns.logged(run.run_id) === logged) activeRuns.stop([run.run_id])
        flushed.set(logged, {
          entries: entries.length,
          nextAt: now + (1000 * countCharacters(entries)) / charactersPerSecond
        })
      }
    })

    const pass = Effect.gen(function* () {
      const active = yield* activeRuns.activeRuns
      yield* Effect.sleep(intervalMs)
      const now = yield* currentTime
      flushed = new Map(
        active.flatMap(({ logged }) => {
          const before = flushed.get(logged)
          return before === undefined ? [] : [[logged, before] as const]
        })
      )
      const due = active.filter(({ run, logged }) => {
        const before = flushed.get(logged) ?? { entries: 0, nextAt: 0 }
        return activeRuns.logged(run.run_id) === logged && logged.logs.length > before.entries && before.nextAt <= now
      })
      for (let at = 0; at < due.length; at += batch) yield* write(due.slice(at, at + batch))
    })

    yield* forkSupervised({ name: "The log flusher", afterFailure: Effect.void }, pass)
  })
)

const countCharacters = (logs: ReadonlyArray<LogEntry>): number =>
  logs.reduce((length, entry) => length + entry.message.length + (entry.data?.length ?? 0), 0)
