/**
 * The runs that this node knows as its own, from before they are written until their end is stored.
 *
 * A store that does not answer may still have executed the request. It then holds runs of this node that the node does
 * not know. No other node would end them, because this node is alive. So while writes are uncertain, this node compares
 * its runs with the store.
 */
import { Clock, Context, Effect, Latch, Layer } from "effect"
import { RunId } from "../../foundation/Ids.ts"
import { InFlightMap } from "../../foundation/InFlightMap.ts"
import { addMillis, now as currentTime } from "../../foundation/time/Timestamp.ts"
import type { Claim, LocalRunSet } from "./JournalStore.ts"

/** Interval of comparisons and minimum age of a compared run, in milliseconds: its publication may have taken a while. */
const compareMs = 30_000

/**
 * Returns the id of a claimed run in `LocalRuns`. That of a run that continues is unique to the claim, because this node may
 * have claimed the run before. Both were ids of the claim's request.
 */
export const toLocalId = ({ delivery, run }: Pick<Claim, "delivery" | "run">): RunId =>
  delivery.continues === null ? run.run_id : RunId.make(delivery.delivery_id)

/** Time in milliseconds that a delayed request may take to reach the store. */
export const uncertainMs = 180_000

export class LocalRuns extends Context.Service<
  LocalRuns,
  {
    /** Adds runs, by `toLocalId`. */
    readonly begin: (runIds: ReadonlyArray<RunId>) => void
    readonly end: (runIds: ReadonlyArray<RunId>) => void
    /** Records that a write of runs has an unknown result. */
    readonly markUncertain: () => void
    /** Waits until a comparison is due and returns the runs of this node, for `JournalStore.reap`. */
    readonly awaitUncertain: Effect.Effect<LocalRunSet>
  }
>()("@weft/core/runtime/journal/LocalRuns") {
  static readonly layer = Layer.effect(
    LocalRuns,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const known = new InFlightMap<RunId, RunId>()
      const wake = Latch.makeUnsafe(false)
      let uncertainUntil = 0

      return LocalRuns.of({
        begin: (runIds) => {
          for (const runId of runIds) known.set(runId, runId)
        },
        end: (runIds) => {
          for (const runId of runIds) known.delete(runId)
        },
        markUncertain: () => {
          uncertainUntil = clock.currentTimeMillisUnsafe() + uncertainMs
          wake.openUnsafe()
        },
        awaitUncertain: Effect.gen(function* () {
          yield* wake.await
          yield* Effect.sleep(compareMs)
          const now = yield* currentTime
          if (now >= uncertainUntil) wake.closeUnsafe()
          return { before: addMillis(now, -compareMs), known: known.values() }
        })
      })
    })
  )
}
