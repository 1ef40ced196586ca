/**
 * Counts the runs of this node by function and minute, and stores the counts within 10 s.
 *
 * An idle node stores nothing. The node stores the whole counts of a minute each time, so a repeated write adds nothing
 * twice. A crash loses the counts since the last write, at most those of 10 s, and a shutdown stores them.
 */
import { Clock, Context, Effect, Latch, Layer } from "effect"
import { forkSupervised } from "../../foundation/Supervised.ts"
import type { Run, RunStatus } from "../runs/Run.ts"
import { SeriesStore } from "../runs/SeriesStore.ts"
import type { Claim, JournalEntry } from "./JournalStore.ts"
import { NodeLease } from "./NodeLease.ts"
import { SeriesTally, toMinuteCounts } from "./SeriesTally.ts"

/** Interval of writes in milliseconds, while runs end. */
const intervalMs = 10_000

/** Maximum rows per transaction, so that other writers do not wait long. */
const batch = 500

export class SeriesRecorder extends Context.Service<
  SeriesRecorder,
  {
    /** Counts the start of the run of a claim, with the time that it waited. A run that continues did not wait. */
    readonly countStart: (claim: Claim) => void
    /** Counts the run if the entry ends one. Call it once the entry is stored. */
    readonly countEntry: (entry: JournalEntry) => void
    /** Counts an ended run that no entry ends. Without `stop_time`, it ends now with this status. */
    readonly countEnd: (run: Run, status?: RunStatus, isRetried?: boolean) => void
  }
>()("@weft/core/runtime/journal/SeriesRecorder") {
  static readonly layer = Layer.effect(
    SeriesRecorder,
    Effect.gen(function* () {
      const store = yield* SeriesStore
      const { nodeId } = yield* NodeLease
      const clock = yield* Clock.Clock
      const tally = new SeriesTally()
      const hasCounts = Latch.makeUnsafe(false)

      const flush = Effect.gen(function* () {
        const slots = [...tally.take()]
        yield* Effect.gen(function* () {
          while (slots.length > 0) {
            yield* store.save(slots.slice(0, batch).map((slot) => toMinuteCounts(slot, nodeId)))
            slots.splice(0, batch)
          }
        }).pipe(Effect.onError(() => Effect.sync(() => tally.restore(slots))))
        tally.forget(clock.currentTimeMillisUnsafe())
      })

      const pass = Effect.gen(function* () {
        yield* hasCounts.await
        yield* Effect.sleep(intervalMs)
        yield* flush
        if (tally.isEmpty) hasCounts.closeUnsafe()
      })

      const flushLast = Effect.catchCause(flush, (cause) =>
        Effect.logError("The last counts of runs by function and minute are lost", cause)
      )

      yield* Effect.addFinalizer(() => flushLast)
      yield* forkSupervised({ name: "The counter of runs by function and minute", afterFailure: Effect.void }, pass)

      const countEnd = (run: Run, status: RunStatus, isRetried: boolean) => {
        const now = clock.currentTimeMillisUnsafe()
        const duration = status === "cancelled" ? null : Math.max(0, (run.stop_time ?? now) - run.start_time)
        tally.end(run, status, isRetried, duration, now)
        hasCounts.openUnsafe()
      }

      return SeriesRecorder.of({
        countStart: ({ delivery, event, run }) => {
          if (delivery.continues !== null) return
          tally.begin(run, Math.max(0, run.start_time - waitedSince(delivery, event)), clock.currentTimeMillisUnsafe())
          hasCounts.openUnsafe()
        },
        countEntry: (entry) => {
          if (entry._tag === "Settled") countEnd(entry.run, entry.run.status, entry.next !== null)
          else if (entry._tag === "Ended") countEnd(entry.run, entry.run.status, false)
        },
        countEnd: (run, status = run.status, isRetried = false) => countEnd(run, status, isRetried)
      })
    })
  )
}

/** Returns the first instant at which the run could have started. Holds move `due_at` of a delivery, not the event. */
const waitedSince = (
  { attempt, due_at, run_type, batch }: Claim["delivery"],
  { created_at, event_time }: Claim["event"]
): number => {
  if (attempt > 1 || run_type === "run") return due_at
  return Math.min(due_at, batch === undefined ? Math.max(created_at, event_time) : batch.until)
}
