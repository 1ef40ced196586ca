/** Removes sessions that are long over, from time to time. Which are active does not depend on it. */
import { Duration, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../errors/Errors.ts"
import { forkLasting } from "../errors/Lasting.ts"
import { addMillis, now as currentTime } from "../ids/Timestamp.ts"
import { SessionStore } from "./SessionStore.ts"

/** Sessions that go in one transaction. */
const batch = 500

const every = Duration.minutes(10)

/** How long an expired session stays: longer than clocks of nodes differ. */
const keepFor = Duration.hours(1)

export const layer: Layer.Layer<never, never, SessionStore> = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* SessionStore

    const sweep: Effect.Effect<void, StoreUnavailable> = Effect.gen(function* () {
      const before = addMillis(yield* currentTime, -Duration.toMillis(keepFor))
      while ((yield* store.removeExpired(before, batch)) === batch);
    })

    yield* forkLasting(
      { name: "The janitor of sessions", afterFailure: Effect.void },
      Effect.andThen(Effect.sleep(every), sweep)
    )
  })
)
