/** Background loops that run until the node closes, despite store outages and defects. */
import { Effect, type Scope } from "effect"
import type { StoreUnavailable } from "./Errors.ts"

/** Logs, for the operator, which operation the store did not answer, and why. */
export const logOutage = (error: StoreUnavailable): Effect.Effect<void> => Effect.logWarning(error.message, error.cause)

interface SupervisedOptions {
  /** Name in the log, such as "The scheduler". */
  readonly name: string
  /** Runs after a failed iteration, before the next one. A pause of 1 s by default; empty if iterations begin with a pause. */
  readonly afterFailure?: Effect.Effect<void>
}

const defaultPause = Effect.sleep("1 second")

/** Repeats `iteration` until the scope closes. A failed iteration is logged with its cause, and the loop continues. */
export const forkSupervised = <R>(
  { name, afterFailure = defaultPause }: SupervisedOptions,
  iteration: Effect.Effect<unknown, StoreUnavailable, R>
): Effect.Effect<void, never, R | Scope.Scope> =>
  iteration.pipe(
    Effect.catchTag("StoreUnavailable", (error) => Effect.andThen(logOutage(error), afterFailure)),
    Effect.catchDefect((defect) =>
      Effect.andThen(Effect.logError(`${name} failed with a defect`, defect), afterFailure)
    ),
    Effect.forever,
    Effect.forkScoped,
    Effect.asVoid
  )
