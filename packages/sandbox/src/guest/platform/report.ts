/** Reports errors that no code can catch: those of event listeners, timers and microtasks. */
import { host } from "./host.ts"
import { modules } from "./modules.ts"

/** Dispatches an error event, once anything listens to the events of the global object. */
let dispatch: ((error: unknown) => boolean) | null = null

/** Returns the module of global events, and lets it receive errors from now on. */
export const listenGlobally = (): typeof import("./global-events.ts") => {
  const events = modules.globalEvents()
  dispatch = events.dispatchError
  return events
}

/** True if a listener of the global object handled the error. */
export const isHandled = (error: unknown): boolean => dispatch?.(error) ?? false

/** Dispatches an error event; if nothing handles it, `error` is written to the run's log. */
export const report = (error: unknown): void => {
  if (!isHandled(error)) {
    host().log("error", `Uncaught ${modules.inspect().inspect(error)}`, null)
  }
}
