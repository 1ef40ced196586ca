/**
 * The runs that this node knows to be its own, from before the store is told of them until the store has their end.
 *
 * A store that does not answer may have done what it was asked. It then holds runs in the name of this node that nobody
 * here knows of, and as the node lives, nobody else would end them: so it compares, as long as there is doubt.
 */
import { Clock, Context, Effect, Latch, Layer } from "effect"
import type { RunId } from "../ids/Ids.ts"
import { addMillis, now as currentTime } from "../ids/Timestamp.ts"
import { Roster } from "../runs/Roster.ts"
import type { Own } from "./JournalStore.ts"

/** Between two comparisons, and how old a run must be to be compared: its publication may have taken a while. */
const compareMs = 30_000

/** How long there is doubt: what a network held up may reach the store late. */
export const doubtMs = 180_000

export class OwnRuns extends Context.Service<
  OwnRuns,
  {
    readonly begin: (runIds: ReadonlyArray<RunId>) => void
    readonly end: (runIds: ReadonlyArray<RunId>) => void
    /** The store did not say what became of runs that it was told of. */
    readonly doubt: () => void
    /** Returns when it is time to compare: what is this node's, for `JournalStore.reap`. */
    readonly doubted: Effect.Effect<Own>
  }
>()("@weft/core/runs/OwnRuns") {
  static readonly layer = Layer.effect(
    OwnRuns,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const known = new Roster<RunId, RunId>()
      const wake = Latch.makeUnsafe(false)
      let doubtUntil = 0

      return OwnRuns.of({
        begin: (runIds) => {
          for (const runId of runIds) known.set(runId, runId)
        },
        end: (runIds) => {
          for (const runId of runIds) known.delete(runId)
        },
        doubt: () => {
          doubtUntil = clock.currentTimeMillisUnsafe() + doubtMs
          wake.openUnsafe()
        },
        doubted: Effect.gen(function* () {
          yield* wake.await
          yield* Effect.sleep(compareMs)
          const now = yield* currentTime
          if (now >= doubtUntil) wake.closeUnsafe()
          return { before: addMillis(now, -compareMs), known: known.values() }
        })
      })
    })
  )
}
