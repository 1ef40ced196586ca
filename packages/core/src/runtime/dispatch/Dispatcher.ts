/** Executes claimed deliveries concurrently, and drains them when the node shuts down. */
import { Clock, Context, Effect, Latch, Layer } from "effect"
import { InFlightMap } from "../../foundation/InFlightMap.ts"
import type { Claim } from "../journal/JournalStore.ts"
import { Claimer } from "./Claimer.ts"
import { DeliveryWorker } from "./DeliveryWorker.ts"
import { countClaimSlots, Slots } from "./Slots.ts"

/** Grace period of running deliveries at shutdown, in milliseconds. */
const drainMs = 30_000

export class Dispatcher extends Context.Service<
  Dispatcher,
  {
    /**
     * Stops claiming permanently and waits until all deliveries of this node have ended, at most 30 s after the first
     * call. Other nodes claim the deliveries of events that are published here from now on.
     */
    readonly drain: Effect.Effect<void>
  }
>()("@weft/core/runtime/dispatch/Dispatcher") {
  static readonly layer = Layer.effect(
    Dispatcher,
    Effect.gen(function* () {
      const worker = yield* DeliveryWorker
      const slots = yield* Slots
      const claimer = yield* Claimer
      const context = yield* Effect.context<never>()
      const running = new InFlightMap<Interruptible, Interruptible>()
      /** Open while no delivery runs. */
      const idle = Latch.makeUnsafe(true)
      let until: number | null = null

      const begin = (claim: Claim): void => {
        const work: Interruptible = { interrupt: () => {} }
        running.set(work, work)
        idle.closeUnsafe()
        work.interrupt = worker.start(claim, context, (retryAt) => {
          running.delete(work)
          if (running.size === 0) idle.openUnsafe()
          if (retryAt !== null) claimer.claimAt(retryAt)
          claimer.claim(slots.release(claim.run.env_id, countClaimSlots(claim)))
        })
      }

      const interruptAll = Effect.suspend(() => {
        slots.startWith(null)
        for (const { interrupt } of running.values()) interrupt()
        return idle.await
      })
      yield* Effect.acquireRelease(
        Effect.sync(() => slots.startWith(begin)),
        () => interruptAll
      )

      const drain = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        until ??= now + drainMs
        // Deliveries of a claim or a commit in flight also run here.
        const done = Effect.andThen(claimer.stop, slots.idle)
        yield* Effect.timeoutOption(Effect.interruptible(done), Math.max(0, until - now))
      })

      // Finalizers run in reverse order: first the grace period, then the interruption of the remaining deliveries.
      yield* Effect.addFinalizer(() => Effect.andThen(drain, Effect.sync(worker.stopRetries)))

      return Dispatcher.of({ drain })
    })
  )
}

interface Interruptible {
  interrupt: () => void
}
