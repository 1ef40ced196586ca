/**
 * Tasks with a callback, for hot paths that run no fiber but the guest's own, and their conversion from and to effects.
 *
 * A task calls back exactly once, also after it was interrupted.
 */
import { type Context, Effect, type Exit } from "effect"

/** Starts a task in a context. Returns a function that interrupts it. */
export type CallbackTask<A, E> = (context: Context.Context<never>, done: (exit: Exit.Exit<A, E>) => void) => () => void

/** Converts a task to an effect. Interruption waits until the task has ended. */
export const fromCallbackTask = <A, E>(start: CallbackTask<A, E>): Effect.Effect<A, E> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.callback<A, E>((resume) => {
      let onEnd: (() => void) | undefined
      let hasEnded = false
      const interrupt = start(context, (exit) => {
        hasEnded = true
        if (onEnd === undefined) resume(exit)
        else onEnd()
      })
      return Effect.callback<void>((ended) => {
        if (hasEnded) return ended(Effect.void)
        onEnd = () => ended(Effect.void)
        interrupt()
      })
    })
  )

/** Converts an effect to a task. */
export const toCallbackTask =
  <A, E>(effect: Effect.Effect<A, E>): CallbackTask<A, E> =>
  (context, done) => {
    const fiber = Effect.runForkWith(context)(effect)
    fiber.addObserver(done)
    return () => fiber.interruptUnsafe()
  }
