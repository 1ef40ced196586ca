/** Waits for the run of a call. */
import { Effect } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"
import type { Event } from "../events/Event.ts"
import { isFinalAttempt } from "../runs/Attempt.ts"
import { RunStore } from "../runs/RunStore.ts"
import { StreamWatch } from "./StreamWatch.ts"

const waitMaxSeconds = 300

/** Maximum wait for the start of the first run, in milliseconds. */
const startWaitMs = 1_000

/** Fails with `BadRequest` unless a caller may wait for this number of seconds. */
export const checkWait = (wait: number): Effect.Effect<void, BadRequest> =>
  wait >= 0 && wait <= waitMaxSeconds
    ? Effect.void
    : Effect.fail(new BadRequest({ reason: `wait must be a number of seconds from 0 to ${waitMaxSeconds}` }))

/**
 * Returns a function that waits up to `wait` seconds for the end of the last of `attempts`. Returns the run of the latest
 * attempt as it is then, or null if none begins within a second.
 */
export const makeAwaitRun = Effect.gen(function* () {
  const store = yield* RunStore
  const watch = yield* StreamWatch

  return Effect.fnUntraced(function* ({ env_id, event_id, stream_id }: Event, attempts: number, wait: number) {
    const latest = Effect.map(
      store.list(env_id, { limit: 1, offset: 0 }, { eventId: event_id }),
      ({ items }) => items[0] ?? null
    )
    const final = Effect.map(latest, (run) => (run !== null && isFinalAttempt(run, attempts) ? run : null))
    const waitMs = wait * 1000
    const ended = waitMs === 0 ? null : yield* watch.until(stream_id, final, waitMs)
    return ended ?? (yield* watch.until(stream_id, latest, startWaitMs - waitMs))
  })
})
