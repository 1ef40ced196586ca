/** Tasks that start in a turn of their environment. */
import { Exit } from "effect"
import type { RateLimited } from "../../foundation/Errors.ts"
import { overloaded } from "../../platform/turns/Turns.ts"
import type { WorkKind } from "../../platform/turns/WorkKind.ts"
import type { WorkScheduler } from "../../platform/turns/WorkScheduler.ts"
import type { CallbackTask } from "./CallbackTask.ts"

export interface Turn {
  readonly key: string
  readonly kind: WorkKind
  /** Memory that the task holds while it waits, in bytes. */
  readonly bytes: number
}

/** Returns the task with its start in a turn: at once if nothing waits. Fails if too much work of the key waits. */
export const inTurn =
  <A, E>(
    turns: WorkScheduler,
    { key, kind, bytes }: Turn,
    task: CallbackTask<A, E>
  ): CallbackTask<A, E | RateLimited> =>
  (context, done) => {
    let interrupt: (() => void) | null = null
    let isInterrupted = false
    const isAccepted = turns.offer(key, kind, bytes, () => {
      if (isInterrupted) done(Exit.interrupt())
      else interrupt = task(context, done)
    })
    if (!isAccepted) done(Exit.fail(overloaded()))
    return () => {
      isInterrupted = true
      interrupt?.()
    }
  }
