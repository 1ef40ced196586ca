/** Removes expired sessions periodically. Sessions expire on time without it. */
import { Duration, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { addMillis, now as currentTime } from "../../foundation/time/Timestamp.ts"
import { SessionStore } from "./SessionStore.ts"

/** Maximum sessions removed per transaction. */
const batch = 500

const every = Duration.minutes(10)

/** Minimum time between expiry and removal, which exceeds the clock difference between nodes. */
const keepFor = Duration.hours(1)

export const layer: Layer.Layer<never, never, SessionStore> = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* SessionStore

    const sweep: Effect.Effect<void, StoreUnavailable> = Effect.gen(function* () {
      const before = addMillis(yield* currentTime, -Duration.toMillis(keepFor))
      while ((yield* store.removeExpired(before, batch)) === batch);
    })

    yield* forkSupervised(
      { name: "The session janitor", afterFailure: Effect.void },
      Effect.andThen(Effect.sleep(every), sweep)
    )
  })
)
