/** Cancels running runs: first in the store, then on their nodes. */
import { Effect } from "effect"
import type { EnvId } from "../../foundation/Ids.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { makeNotifyCancelled } from "../dispatch/CancelledRuns.ts"
import { UnconfirmedWrites } from "../journal/UnconfirmedWrites.ts"
import { RunControlStore, type RunSelection } from "../runs/RunControlStore.ts"

/** Maximum runs per transaction. */
const batch = 200

/** Returns a function that cancels up to one batch of runs. */
export const makeCancelBatch = Effect.gen(function* () {
  const store = yield* RunControlStore
  const unconfirmed = yield* UnconfirmedWrites
  const notifyCancelled = yield* makeNotifyCancelled

  return Effect.fnUntraced(function* (envId: EnvId, which: RunSelection) {
    const cancelled = yield* unconfirmed.track(store.cancel(envId, which, yield* currentTime, batch))
    yield* notifyCancelled(cancelled)
    return cancelled.map(({ run }) => run)
  }, Effect.uninterruptible)
})
