/** Reports errors that no code can catch: those of event listeners and microtasks. */
import { host } from "./host.ts"
import { modules } from "./modules.ts"

/** Writes `error` to the run's log. */
export const report = (error: unknown): void => {
  host().log("error", `Uncaught ${modules.inspect().inspect(error)}`, null)
}
