/** The scheduler of this thread, and turns for fibers. */
import { Context, Effect, Layer } from "effect"
import { RateLimited } from "../../foundation/Errors.ts"
import { NodeMetrics } from "../../foundation/telemetry/NodeMetrics.ts"
import { eventLoop } from "./EventLoop.ts"
import type { WorkKind } from "./WorkKind.ts"
import { WorkScheduler } from "./WorkScheduler.ts"

/** The scheduler of the host's work. All instances of Weft on a thread share its event loop, and so this scheduler. */
export const Turns = Context.Reference<WorkScheduler>("@weft/core/platform/turns/Turns", {
  defaultValue: () => new WorkScheduler(eventLoop)
})

/** Registers the metrics of the turns. */
export const turnMetrics: Layer.Layer<never, never, NodeMetrics> = Layer.effectDiscard(
  Effect.gen(function* () {
    const metrics = yield* NodeMetrics
    const turns = yield* Turns
    metrics.register(Effect.sync(() => turns.read()))
  })
)

/** Seconds after which an environment with too much queued work may try again. */
const retryAfterSeconds = 1

/** Error for the environment or connection whose queue is full. */
export const overloaded = (): RateLimited => new RateLimited({ retryAfterSeconds })

/**
 * Waits for a turn of the key: not at all if nothing waits. The time of the fiber until its next wait is charged to the key.
 * Fails with `RateLimited` if too much work of the key waits.
 */
export const takeTurn = (
  turns: WorkScheduler,
  key: string,
  kind: WorkKind,
  bytes = 0
): Effect.Effect<void, RateLimited> =>
  Effect.suspend(() =>
    turns.begin(key, kind)
      ? Effect.void
      : waitForTurn((work) => turns.offer(key, kind, bytes, work)).pipe(
          Effect.flatMap((isAccepted) => (isAccepted ? Effect.void : Effect.fail(overloaded())))
        )
  )

/** As `takeTurn`, for the next part of work that was admitted before. Never fails. */
export const nextTurn = (turns: WorkScheduler, key: string, kind: WorkKind): Effect.Effect<void> =>
  Effect.suspend(() =>
    turns.begin(key, kind)
      ? Effect.void
      : Effect.asVoid(
          waitForTurn((work) => {
            turns.run(key, kind, work)
            return true
          })
        )
  )

/** Resolves with true in the turn, or with false at once if `queue` returns false. */
const waitForTurn = (queue: (work: () => void) => boolean): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    let isInterrupted = false
    const isAccepted = queue(() => {
      if (!isInterrupted) resume(Effect.succeed(true))
    })
    if (!isAccepted) return resume(Effect.succeed(false))
    return Effect.sync(() => {
      isInterrupted = true
    })
  })
