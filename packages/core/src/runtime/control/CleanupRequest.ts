/** Requests the cleanup of a durable run: first in the store, then on the node that executes it. */
import { Effect } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"
import { parseDuration } from "../../foundation/time/Duration.ts"
import { addMillis, now as currentTime } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { UnconfirmedWrites } from "../journal/UnconfirmedWrites.ts"
import type { Run } from "../runs/Run.ts"
import { RunControlStore } from "../runs/RunControlStore.ts"

/** False: no cleanup. True: the default time. A duration: at most 5 minutes. */
export type CleanupOption = boolean | string | number

const defaultMs = 30_000
const maxMs = 300_000

/** Returns a function that requests a cleanup. */
export const makeCleanupRequest = Effect.gen(function* () {
  const store = yield* RunControlStore
  const unconfirmed = yield* UnconfirmedWrites
  const bus = yield* ClusterBus

  return Effect.fnUntraced(function* (run: Run, cleanup: Exclude<CleanupOption, false>) {
    const ms = cleanup === true ? defaultMs : parseDuration(cleanup)
    if (ms === null || ms < 1 || ms > maxMs) {
      const reason = `cleanup must be true or a duration from 1 ms to 5 minutes, such as "30s" (got ${JSON.stringify(cleanup)})`
      return yield* new BadRequest({ reason })
    }
    const at = yield* currentTime
    const requested = yield* unconfirmed.track(store.requestCleanup(run, addMillis(at, ms), at))
    if (requested === null) {
      const isDurable = run.activations !== null
      return yield* new BadRequest({
        reason: isDurable
          ? "The run has ended: only a running one can be cancelled"
          : "The run is not durable and cannot clean up: cancel it without cleanup"
      })
    }
    yield* bus.sendControl([
      { type: "workflows:cancelled", run_ids: [run.run_id] },
      { type: "deliveries:waiting", node_id: null }
    ])
    return requested
  }, Effect.uninterruptible)
})
