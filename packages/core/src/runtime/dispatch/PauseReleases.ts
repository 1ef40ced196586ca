/**
 * Releases the deliveries of pauses that have ended, in bounded transactions, and then removes the pauses.
 *
 * The node that ended a pause begins at once. If it dies, another node finds the pause with a poll and releases the rest.
 */
import { Clock, Context, Effect, Latch, Layer } from "effect"
import type { DeliveryId, PauseId } from "../../foundation/Ids.ts"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { ActivePauses } from "../journal/ActivePauses.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { StorePoller } from "../journal/StorePoller.ts"
import type { Pause } from "../runs/Pause.ts"
import { PauseStore } from "../runs/PauseStore.ts"
import { Claimer } from "./Claimer.ts"
import { Slots } from "./Slots.ts"

/** Maximum deliveries that one transaction examines. */
const batch = 500

/** Time after the end of a pause in which only the node that ended it releases its deliveries, in milliseconds. */
const aloneMs = 30_000

/** Pause in milliseconds after the store did not answer. */
const unavailableDelayMs = 1_000

export class PauseReleases extends Context.Service<
  PauseReleases,
  {
    /** Releases the deliveries of a pause that this node has ended. Returns at once. */
    readonly begin: (pause: Pause) => void
  }
>()("@weft/core/runtime/dispatch/PauseReleases") {
  static readonly layer = Layer.effect(
    PauseReleases,
    Effect.gen(function* () {
      const pauses = yield* ActivePauses
      const poller = yield* StorePoller
      const release = yield* makeRelease
      const clock = yield* Clock.Clock
      const wake = Latch.makeUnsafe(false)
      const queue = new Map<PauseId, Pause>()

      const add = (pause: Pause) => {
        queue.set(pause.pause_id, pause)
        wake.openUnsafe()
      }

      const next = Effect.suspend(() => {
        const [pause] = queue.values()
        if (pause === undefined) {
          wake.closeUnsafe()
          return wake.await
        }
        return Effect.map(release(pause), () => void queue.delete(pause.pause_id))
      })
      yield* forkSupervised(
        { name: "The release of paused deliveries", afterFailure: Effect.sleep(unavailableDelayMs) },
        next
      )

      yield* poller.onPoll(() => {
        for (const pause of pauses.ending())
          if (clock.currentTimeMillisUnsafe() - (pause.resumed_at ?? 0) >= aloneMs) add(pause)
      })

      return PauseReleases.of({ begin: add })
    })
  )
}

/** Returns a function that releases the deliveries of an environment that no pause covers, and then removes the pause. */
const makeRelease = Effect.gen(function* () {
  const store = yield* PauseStore
  const pauses = yield* ActivePauses
  const claimer = yield* Claimer
  const slots = yield* Slots
  const lease = yield* NodeLease
  const bus = yield* ClusterBus

  return Effect.fnUntraced(function* ({ env_id, pause_id }: Pause) {
    let after: DeliveryId | null = null
    do {
      const { released, next }: { readonly released: number; readonly next: DeliveryId | null } = yield* store.release(
        env_id,
        after,
        batch,
        yield* currentTime
      )
      after = next
      if (released === 0) continue
      claimer.claim(slots.addPending(env_id))
      yield* bus.sendControl([{ type: "deliveries:waiting", node_id: lease.nodeId }])
    } while (after !== null)
    yield* store.forget(env_id, pause_id)
    yield* pauses.changed
  })
})
