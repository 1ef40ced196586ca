/** What a node does all its life, whatever the store answers, and whatever mistake of ours it meets. */
import { Effect, type Scope } from "effect"
import type { StoreUnavailable } from "./Errors.ts"

/** For who runs the server: which question the store did not answer, and why. */
export const logOutage = (error: StoreUnavailable): Effect.Effect<void> => Effect.logWarning(error.message, error.cause)

interface Lasting {
  /** What does it, as the log has it: "The scheduler". */
  readonly name: string
  /** Comes after a turn that failed and before the next: by default a rest of a second; none where turns begin with one. */
  readonly afterFailure?: Effect.Effect<void>
}

const rest = Effect.sleep("1 second")

/** Takes one turn after the other until the scope closes. One that fails is logged with its cause, and is not the last. */
export const forkLasting = <R>(
  { name, afterFailure = rest }: Lasting,
  turn: Effect.Effect<unknown, StoreUnavailable, R>
): Effect.Effect<void, never, R | Scope.Scope> =>
  turn.pipe(
    Effect.catchTag("StoreUnavailable", (error) => Effect.andThen(logOutage(error), afterFailure)),
    Effect.catchDefect((defect) => Effect.andThen(Effect.logError(`${name} met a defect`, defect), afterFailure)),
    Effect.forever,
    Effect.forkScoped,
    Effect.asVoid
  )
