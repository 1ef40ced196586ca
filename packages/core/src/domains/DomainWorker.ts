/**
 * Checks domains in the background, each when it is due, on whichever node is first.
 *
 * It sleeps until the next check is due, or something was begun here; a backstop finds what other nodes left.
 */
import { Clock, Context, Effect, Latch, Layer } from "effect"
import { forkLasting } from "../errors/Lasting.ts"
import { addMillis, now as currentTime } from "../ids/Timestamp.ts"
import { DomainChecks } from "./DomainChecks.ts"
import { holdMs } from "./DomainProgress.ts"
import { DomainStore } from "./DomainStore.ts"

/** Checks at once on one node. Most wait for the DNS or a certificate authority. */
const atOnce = 8

/**
 * How long it sleeps when nothing wakes it. The node where a check was begun does the next ones as well, so this is only
 * for those of a node that died; the DNS and certificates have time.
 */
const backstopMs = 600_000

/** Pause after the store did not answer. */
const unavailableDelayMs = 5_000

export class DomainWorker extends Context.Service<
  DomainWorker,
  {
    /** A domain may be due sooner than this node knows. */
    readonly wake: () => void
  }
>()("@weft/core/domains/DomainWorker") {
  static readonly layer: Layer.Layer<DomainWorker, never, DomainStore | DomainChecks> = Layer.effect(
    DomainWorker,
    Effect.gen(function* () {
      const store = yield* DomainStore
      const { check } = yield* DomainChecks
      const woken = Latch.makeUnsafe(false)
      const wake = (): void => void woken.openUnsafe()
      let free = atOnce

      /** Starts what is due and gives how long nothing else will be, in milliseconds. */
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
        if (claimed.next_due_at === null) return backstopMs
        const after = yield* Clock.currentTimeMillis
        return Math.min(Math.max(claimed.next_due_at - after, 0), backstopMs)
      })

      const turn = Effect.gen(function* () {
        woken.closeUnsafe()
        // With every slot taken, the end of a check is the next thing to happen.
        const pauseMs = free === 0 ? backstopMs : yield* Effect.uninterruptible(start)
        yield* Effect.timeoutOption(woken.await, pauseMs)
      })

      yield* forkLasting({ name: "The checks of domains", afterFailure: Effect.sleep(unavailableDelayMs) }, turn)
      return DomainWorker.of({ wake })
    })
  )
}
