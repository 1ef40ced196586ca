/** Begins what is claimed and sees it through, many at once; drains when the node stops. */
import { Effect, FiberSet, Layer, Queue } from "effect"
import { Claimer } from "./Claimer.ts"
import { DeliveryWorker } from "./DeliveryWorker.ts"
import { Slots } from "./Slots.ts"

/** How long running deliveries may go on when the node stops. */
const drainMs = 30_000

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const worker = yield* DeliveryWorker
    const slots = yield* Slots
    const running = yield* FiberSet.make<void>()
    const claimer = yield* Claimer

    const begin = Effect.gen(function* () {
      const claimed = yield* Queue.take(slots.claimed)
      const seen = Effect.map(worker.see(claimed), (retryAt) => {
        if (retryAt !== null) claimer.claimAt(retryAt)
        claimer.claim(slots.release(claimed.run.env_id, 1))
      })
      yield* FiberSet.run(running, seen)
    })
    yield* Effect.forkScoped(Effect.forever(begin))

    // Finalizers run in reverse: what is claimed has its time first, then the loop ends, then what runs is interrupted.
    yield* Effect.addFinalizer(() =>
      Effect.andThen(Effect.sync(claimer.stop), Effect.timeoutOption(FiberSet.awaitEmpty(running), drainMs))
    )
  })
)
