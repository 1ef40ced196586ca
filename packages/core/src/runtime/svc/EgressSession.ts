/** An outbound connection of a run between host calls, until the guest or the run ends it. */
import { Deferred, Effect, Exit, Scope } from "effect"
import { EgressFailed, type EgressRefused } from "../../platform/egress/Egress.ts"

const closed = new EgressFailed({ reason: "the connection is closed" })

export class EgressSession<A> {
  readonly #scope = Scope.makeUnsafe()
  readonly #cancelled = Deferred.makeUnsafe<never, EgressFailed>()
  readonly #onEnd: () => void
  #connection: A | undefined

  /** @param onEnd called once, when the session has ended */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  /** Opens the connection, which closes at the end of the session. A failure ends the session. */
  open(
    connect: Effect.Effect<A, EgressRefused | EgressFailed, Scope.Scope>
  ): Effect.Effect<A, EgressRefused | EgressFailed> {
    return connect.pipe(
      Effect.provideService(Scope.Scope, this.#scope),
      Effect.raceFirst(Deferred.await(this.#cancelled)),
      Effect.tap((connection) =>
        Effect.sync(() => {
          this.#connection = connection
        })
      ),
      Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : this.end))
    )
  }

  /** Uses the open connection until the session ends. */
  use<B>(act: (connection: A) => Effect.Effect<B, EgressFailed>): Effect.Effect<B, EgressFailed> {
    return Effect.suspend(() => {
      const connection = this.#connection
      if (connection === undefined) return Effect.fail(closed)
      return Effect.raceFirst(act(connection), Deferred.await(this.#cancelled))
    })
  }

  /** Ends the session and closes the connection. */
  readonly end: Effect.Effect<void> = Effect.suspend(() => {
    this.#onEnd()
    this.#connection = undefined
    Deferred.doneUnsafe(this.#cancelled, Exit.fail(closed))
    return Scope.close(this.#scope, Exit.void)
  })
}

/** The failure of an operation on a connection that is not open. */
export const notOpen = Effect.fail(closed)
