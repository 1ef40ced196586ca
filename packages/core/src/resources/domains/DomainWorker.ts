/**
 * Checks due domains in the background. Any node may claim a due check.
 *
 * The worker sleeps until the next check is due or until this node wakes it. A periodic poll finds checks that other
 * nodes started and did not finish.
 */
import { Clock, Context, Effect, Latch, Layer } from "effect"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { addMillis, now as currentTime } from "../../foundation/time/Timestamp.ts"
import { DomainChecks } from "./DomainChecks.ts"
import { holdMs } from "./DomainProgress.ts"
import { DomainStore } from "./DomainStore.ts"

/** Maximum concurrent checks on a node. Most of them wait for DNS or a certificate authority. */
const concurrency = 8

/**
 * Poll interval in milliseconds. The node that started the checks of a domain also does the following ones, so that the
 * poll only serves domains of crashed nodes. DNS and certificates are not urgent.
 */
const pollMs = 600_000

/** Delay after the store was unavailable, in milliseconds. */
const unavailableDelayMs = 5_000

export class DomainWorker extends Context.Service<
  DomainWorker,
  {
    /** Makes the worker look for due domains now. */
    readonly wake: () => void
  }
>()("@weft/core/resources/domains/DomainWorker") {
  static readonly layer: Layer.Layer<DomainWorker, never, DomainStore | DomainChecks> = Layer.effect(
    DomainWorker,
    Effect.gen(function* () {
      const store = yield* DomainStore
      const { check } = yield* DomainChecks
      const woken = Latch.makeUnsafe(false)
      const wake = (): void => void woken.openUnsafe()
      let free = concurrency

      /** Starts due checks and returns the milliseconds until the next one is due. */
      const start = Effect.gen(function* () {
        const now = yield* currentTime
        const claimed = yield* store.claim({ now, until: addMillis(now, holdMs), limit: free })
        for (const held of claimed.domains) {
          free--
          yield* check(held).pipe(
            Effect.catchCause((cause) => Effect.logError(`the check of ${held.domain} failed`, cause)),
            Effect.ensuring(
              Effect.sync(() => {
                free++
                wake()
              })
            ),
            Effect.forkScoped
          )
        }
        if (claimed.next_due_at === null) return pollMs
        const after = yield* Clock.currentTimeMillis
        return Math.min(Math.max(claimed.next_due_at - after, 0), pollMs)
      })

      const iterate = Effect.gen(function* () {
        woken.closeUnsafe()
        // Without a free slot, waits for the end of a check, which wakes the worker.
        const pauseMs = free === 0 ? pollMs : yield* Effect.uninterruptible(start)
        yield* Effect.timeoutOption(woken.await, pauseMs)
      })

      yield* forkSupervised({ name: "The domain worker", afterFailure: Effect.sleep(unavailableDelayMs) }, iterate)
      return DomainWorker.of({ wake })
    })
  )
}
