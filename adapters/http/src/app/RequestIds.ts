/** Ids of requests: UUIDv7, ascending. */
import { makeUuidV7 } from "@weft/core"
import { Clock, Effect } from "effect"

/** A source of its own, which needs no fiber. */
export const makeRequestIds: Effect.Effect<() => string> = Effect.map(Clock.Clock, (clock) =>
  makeUuidV7(
    () => clock.currentTimeMillisUnsafe(),
    (count) => crypto.getRandomValues(new Uint8Array(count))
  )
)
