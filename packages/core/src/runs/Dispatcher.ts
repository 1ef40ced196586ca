/** Begins what is claimed and sees it through, many at once; drains when the node stops. */
import { Clock, Context, Effect, FiberSet, Layer, Queue } from "effect"
import { Claimer } from "./Claimer.ts"
import { DeliveryWorker } from "./DeliveryWorker.ts"
import { Slots } from "./Slots.ts"

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
      const running = yield* FiberSet.make<void>()
      const claimer = yield* Claimer
      let until: number | null = null

      const begin = Effect.gen(function* () {
        const claimed = yield* Queue.take(slots.claimed)
        const seen = Effect.map(worker.see(claimed), (retryAt) => {
          if (retryAt !== null) claimer.claimAt(retryAt)
          claimer.claim(slots.release(claimed.run.env_id, 1))
        })
        yield* FiberSet.run(running, seen)
      })
      yield* Effect.forkScoped(Effect.forever(begin))

      const drain = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        until ??= now + drainMs
        // What is being claimed, or born claimed, runs here, too.
        const done = Effect.andThen(claimer.stop, slots.idle)
        yield* Effect.timeoutOption(Effect.interruptible(done), Math.max(0, until - now))
      })

      // Finalizers run in reverse: what is claimed has its time first, then the loop ends, then what runs is interrupted.
      yield* Effect.addFinalizer(() => Effect.andThen(drain, Effect.sync(worker.hurry)))

      return Dispatcher.of({ drain })
    })
  )
}
