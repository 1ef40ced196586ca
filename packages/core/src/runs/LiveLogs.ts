/**
 * Lets other nodes see what long runs log while they go on, and keeps it if this node dies.
 *
 * A log is written whole each time, because a secret that is read later must not stay in what was written before.
 */
import { Effect, Layer } from "effect"
import { now as currentTime } from "../ids/Timestamp.ts"
import { maskedLogs } from "./Masking.ts"
import type { LogEntry, Run } from "./Run.ts"
import { RunControlStore } from "./RunControlStore.ts"
import { type Logged, RunningRuns } from "./RunningRuns.ts"

/** Between looks at what was logged. Runs that end sooner are written once, at their end. */
const everyMs = 1_000

/** Characters of a log for each further second until it is written again, so that one long log takes no disk's time. */
const charactersPerSecond = 262_144

interface Written {
  readonly entries: number
  readonly nextAt: number
}

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* RunControlStore
    const running = yield* RunningRuns
    let written = new Map<Logged, Written>()

    const write = Effect.fnUntraced(function* (run: Run, logged: Logged) {
      const logs = yield* maskedLogs(logged.logs, logged.secrets)
      const status = yield* store.log(run.env_id, run.run_id, logs)
      // A webhook's run may not be stored yet.
      if (status === null) return
      if (status !== "running" && running.logged(run.run_id) === logged) running.stop([run.run_id])
      const nextAt = (yield* currentTime) + (1000 * lengthOf(logs)) / charactersPerSecond
      written.set(logged, { entries: logs.length, nextAt })
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
      for (const { run, logged } of atWork) {
        if (running.logged(run.run_id) !== logged) continue
        const before = written.get(logged) ?? { entries: 0, nextAt: 0 }
        if (logged.logs.length > before.entries && before.nextAt <= now) yield* write(run, logged)
      }
    })

    yield* pass.pipe(
      Effect.catchTag("StoreUnavailable", (error) => Effect.logWarning(error.message)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)

const lengthOf = (logs: ReadonlyArray<LogEntry>): number =>
  logs.reduce((length, entry) => length + entry.message.length + (entry.data?.length ?? 0), 0)
