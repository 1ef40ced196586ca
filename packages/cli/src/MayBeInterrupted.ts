/** Commands that go on until somebody ends them have then done what they were for. */
import { Effect } from "effect"

/** With Ctrl-C, or a signal to end, the process succeeds from now on: see `cli.ts`. */
export const mayBeInterrupted: Effect.Effect<void> = Effect.sync(() => {
  process.exitCode = 0
})
