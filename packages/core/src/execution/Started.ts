/**
 * Between the hot paths, on which no fiber runs but the guest's own, and effects.
 *
 * Something started tells its end once, to a function; it is interrupted by another, and ends all the same.
 */
import { type Context, Effect, type Exit } from "effect"

/** Begins something, in a context; gives how to interrupt it. */
export type Start<A, E> = (context: Context.Context<never>, done: (exit: Exit.Exit<A, E>) => void) => () => void

/** The effect of what is started. Its interruption waits for the end. */
export const fromStart = <A, E>(start: Start<A, E>): Effect.Effect<A, E> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.callback<A, E>((resume) => {
      let whenOver: (() => void) | undefined
      let isOver = false
      const interrupt = start(context, (exit) => {
        isOver = true
        if (whenOver === undefined) resume(exit)
        else whenOver()
      })
      return Effect.callback<void>((over) => {
        if (isOver) return over(Effect.void)
        whenOver = () => over(Effect.void)
        interrupt()
      })
    })
  )

/** Starts an effect. */
export const toStart =
  <A, E>(effect: Effect.Effect<A, E>): Start<A, E> =>
  (context, done) => {
    const fiber = Effect.runForkWith(context)(effect)
    fiber.addObserver(done)
    return () => fiber.interruptUnsafe()
  }
