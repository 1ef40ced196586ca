/** Commands that go on until somebody ends them have then done what they were for. */
import { Effect } from "effect"

/** Waits for Ctrl-C or a signal to end, with which the process then succeeds: see `cli.ts`. */
export const untilInterrupted: Effect.Effect<never> = Effect.suspend(() => {
  process.exitCode = 0
  return Effect.never
})
