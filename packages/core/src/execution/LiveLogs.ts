/**
 * Lets other nodes see what long runs log while they go on, and keeps it if this node dies.
 *
 * A log is written whole each time, because a secret that is read later must not stay in what was written before.
 */
import { Effect, Layer } from "effect"
import { forkLasting } from "../errors/Lasting.ts"
import { now as currentTime } from "../ids/Timestamp.ts"
import type { LogEntry } from "../runs/Run.ts"
import { RunControlStore, type RunLog } from "../runs/RunControlStore.ts"
import { maskedLogs } from "./Masking.ts"
import { type AtWork, type Logged, RunningRuns } from "./RunningRuns.ts"

/** Between looks at what was logged. Runs that end sooner are written once, at their end. */
const everyMs = 1_000

/** Characters of a log for each further second until it is written again, so that one long log takes no disk's time. */
const charactersPerSecond = 262_144

/** Logs in one transaction. */
const batch = 20

interface Written {
  readonly entries: number
  readonly nextAt: number
}

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* RunControlStore
    const running = yield* RunningRuns
    let written = new Map<Logged, Written>()

    /** Writes the logs of these, and stops those that turn out to be over. */
    const write = Effect.fnUntraced(function* (due: ReadonlyArray<AtWork>) {
      const logs: Array<RunLog> = []
      for (const { run, logged } of due) {
        const entries = yield* maskedLogs(logged.logs, logged.secrets)
        logs.push({ env_id: run.env_id, run_id: run.run_id, entries })
      }
      const statuses = yield* store.log(logs)
      const now = yield* currentTime
      for (const [index, { run, logged }] of due.entries()) {
        const status = statuses[index] ?? null
        const entries = logs[index]?.entries ?? []
        // A webhook's run may not be stored yet.
        if (status === null) continue
        if (status !== "running" && running.logged(run.run_id) === logged) running.stop([run.run_id])
        written.set(logged, { entries: entries.length, nextAt: now + (1000 * lengthOf(entries)) / charactersPerSecond })
      }
    })

    const pass = Effect.gen(function* () {
      const atWork = yield* running.atWork
      yield* Effect.sleep(everyMs)
      const now = yield* currentTime
      written = new Map(
        atWork.flatMap(({ logged }) => {
          const before = written.get(logged)
          return before === undefined ? [] : [[logged, before] as const]
        })
      )
      const due = atWork.filter(({ run, logged }) => {
        const before = written.get(logged) ?? { entries: 0, nextAt: 0 }
        return running.logged(run.run_id) === logged && logged.logs.length > before.entries && before.nextAt <= now
      })
      for (let at = 0; at < due.length; at += batch) yield* write(due.slice(at, at + batch))
    })

    yield* forkLasting({ name: "The writer of live logs", afterFailure: Effect.void }, pass)
  })
)

const lengthOf = (logs: ReadonlyArray<LogEntry>): number =>
  logs.reduce((length, entry) => length + entry.message.length + (entry.data?.length ?? 0), 0)
