/** Ids of requests: UUIDv7, ascending. */
import { makeUuidV7 } from "@weft/core/adapter"
import { Clock, Effect } from "effect"

/** A generator that runs without a fiber. */
export const makeRequestIds: Effect.Effect<() => string> = Effect.map(Clock.Clock, (clock) =>
  makeUuidV7(
    () => clock.currentTimeMillisUnsafe(),
    (count) => crypto.getRandomValues(new Uint8Array(count))
  )
)
