/** Begins what is claimed and sees it through, many at once; drains when the node stops. */
import { Clock, Context, Effect, Latch, Layer } from "effect"
import type { Claim } from "../journal/JournalStore.ts"
import { Roster } from "../runs/Roster.ts"
import { Claimer } from "./Claimer.ts"
import { DeliveryWorker } from "./DeliveryWorker.ts"
import { Slots, slotsOf } from "./Slots.ts"

/** How long running deliveries may go on when the node stops. */
const drainMs = 30_000

export class Dispatcher extends Context.Service<
  Dispatcher,
  {
    /**
     * Claims no more, for good, and waits until what runs here has ended: 30 s at most from when it was first asked. What
     * is published here from now on waits for other nodes.
     */
    readonly drain: Effect.Effect<void>
  }
>()("@weft/core/runs/Dispatcher") {
  static readonly layer = Layer.effect(
    Dispatcher,
    Effect.gen(function* () {
      const worker = yield* DeliveryWorker
      const slots = yield* Slots
      const claimer = yield* Claimer
      const context = yield* Effect.context<never>()
      const running = new Roster<Work, Work>()
      /** Open while nothing runs. */
      const calm = Latch.makeUnsafe(true)
      let until: number | null = null

      const begin = (claim: Claim): void => {
        const work: Work = { interrupt: () => {} }
        running.set(work, work)
        calm.closeUnsafe()
        work.interrupt = worker.start(claim, context, (retryAt) => {
          running.delete(work)
          if (running.size === 0) calm.openUnsafe()
          if (retryAt !== null) claimer.claimAt(retryAt)
          claimer.claim(slots.release(claim.run.env_id, slotsOf(claim.event)))
        })
      }

      const interruptAll = Effect.suspend(() => {
        slots.beginWith(null)
        for (const { interrupt } of running.values()) interrupt()
        return calm.await
      })
      yield* Effect.acquireRelease(
        Effect.sync(() => slots.beginWith(begin)),
        () => interruptAll
      )

      const drain = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        until ??= now + drainMs
        // What is being claimed, or born claimed, runs here, too.
        const done = Effect.andThen(claimer.stop, slots.idle)
        yield* Effect.timeoutOption(Effect.interruptible(done), Math.max(0, until - now))
      })

      // Finalizers run in reverse: what is claimed has its time first, then nothing begins any more, and what runs is interrupted.
      yield* Effect.addFinalizer(() => Effect.andThen(drain, Effect.sync(worker.hurry)))

      return Dispatcher.of({ drain })
    })
  )
}

interface Work {
  interrupt: () => void
}
