/**
 * Ends the runs of dead nodes (decisions 5.4, `NodeLost`) when this node starts and when a poll finds some. Also ends
 * runs of this node that it does not know, because the write that stored them had an unknown result.
 */
import { Effect, Latch, Layer } from "effect"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { addMillis, now as currentTime } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { lostActivity } from "../runs/Activity.ts"
import { JournalStore, type LocalRunSet } from "./JournalStore.ts"
import { LocalRuns } from "./LocalRuns.ts"
import { NodeLease } from "./NodeLease.ts"
import { SeriesRecorder } from "./SeriesRecorder.ts"
import { pollIntervalMs, StorePoller } from "./StorePoller.ts"
import { UnconfirmedWrites } from "./UnconfirmedWrites.ts"

/** Maximum runs per transaction. */
const batch = 500

/**
 * Maximum delay between the end of a dead node's lease and its detection, in milliseconds: one poll, and time for its
 * results. If all nodes were down, no subscriber was connected either.
 */
const detectionMs = pollIntervalMs + 10_000

/** Built only after one complete pass, so that no run of an earlier process is `running` when the node starts. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* JournalStore
    const bus = yield* ClusterBus
    const poller = yield* StorePoller
    const { nodeId, lengthMs } = yield* NodeLease
    const unconfirmed = yield* UnconfirmedWrites
    const series = yield* SeriesRecorder
    const orphansFound = Latch.makeUnsafe(false)

    const localRuns = yield* LocalRuns

    const reap = Effect.fnUntraced(function* (own?: LocalRunSet) {
      let count = 0
      while (true) {
        const now = yield* currentTime
        // A dead node may not have published the activity of its last writes.
        if (count > 0) unconfirmed.broadcastFrom(addMillis(now, -lengthMs - detectionMs))
        const lost = yield* unconfirmed.track(store.reap(nodeId, now, batch, own))
        if (lost.length === 0) return count
        count += lost.length
        // Durable runs continue. The delivery of any other run has another attempt, if it has a delivery.
        for (const run of lost) if (run.status === "failed") series.countEnd(run, "failed", run.event_id !== null)
        yield* bus.publish(lost.map(lostActivity))
        yield* bus.sendControl([{ type: "deliveries:waiting", node_id: null }])
      }
    })

    const lost = yield* reap()
    if (lost > 0) yield* Effect.logInfo(`${lost} runs were lost with their node and will be retried or continued`)
    yield* poller.onPoll(({ orphans }) => {
      if (orphans) orphansFound.openUnsafe()
    })
    const reapOrphans = orphansFound.await.pipe(
      // A later poll finds the runs that this pass misses.
      Effect.andThen(Effect.sync(() => orphansFound.closeUnsafe())),
      Effect.andThen(reap())
    )
    yield* forkSupervised({ name: "The reaper of dead nodes" }, reapOrphans)
    yield* forkSupervised(
      // The comparison failed, so it is still due.
      { name: "The reaper of unknown runs", afterFailure: Effect.sync(localRuns.markUncertain) },
      Effect.flatMap(localRuns.awaitUncertain, reap)
    )
  })
)
