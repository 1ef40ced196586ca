/** Exit code 0 for commands that run until the user stops them. */
import { Effect } from "effect"

/** Sets the exit code after Ctrl-C or a termination signal to 0, from now on. `cli.ts` reads it. */
export const succeedWhenInterrupted: Effect.Effect<void> = Effect.sync(() => {
  process.exitCode = 0
})
