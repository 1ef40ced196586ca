/**
 * Ends what dead nodes left behind (decisions 5.4, `NodeLost`): when this node starts, and when some is seen. And what
 * this node holds without knowing it, because the store did not say that it had done what it was asked.
 */
import { Effect, Latch, Layer } from "effect"
import { Feed } from "../activity/Feed.ts"
import { forkLasting } from "../errors/Lasting.ts"
import { addMillis, now as currentTime } from "../ids/Timestamp.ts"
import { runActivity } from "./Journal.ts"
import { JournalStore, type Own } from "./JournalStore.ts"
import { everyMs, Lookout } from "./Lookout.ts"
import { NodeLease } from "./NodeLease.ts"
import { OwnRuns } from "./OwnRuns.ts"
import { Untold } from "./Untold.ts"

/** Runs in one transaction. */
const batch = 500

/**
 * How long after the end of its lease a dead node is noticed, at most: a look, and some time for what it finds; where all
 * were away it does not matter.
 */
const noticedMs = everyMs + 10_000

/** Built only after one complete pass, so that nothing of a former life is `running` when the node begins. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* JournalStore
    const feed = yield* Feed
    const lookout = yield* Lookout
    const { nodeId, lengthMs } = yield* NodeLease
    const untold = yield* Untold
    const seen = Latch.makeUnsafe(false)

    const ownRuns = yield* OwnRuns

    const reap = Effect.fnUntraced(function* (own?: Own) {
      let count = 0
      while (true) {
        const now = yield* currentTime
        // What a dead node stored last it may have told nobody.
        if (count > 0) untold.since(addMillis(now, -lengthMs - noticedMs))
        const lost = yield* untold.during(store.reap(nodeId, now, batch, own))
        if (lost.length === 0) return count
        count += lost.length
        yield* feed.publish(lost.map(runActivity))
        yield* feed.tell([{ type: "deliveries:waiting", node_id: null }])
      }
    })

    const lost = yield* reap()
    if (lost > 0) yield* Effect.logInfo(`${lost} runs were lost with their node and will be tried again`)
    yield* lookout.onSight(({ orphans }) => {
      if (orphans) seen.openUnsafe()
    })
    const reapSeen = seen.await.pipe(
      // What is not reaped now is seen again.
      Effect.andThen(Effect.sync(() => seen.closeUnsafe())),
      Effect.andThen(reap())
    )
    yield* forkLasting({ name: "The reaper of the dead" }, reapSeen)
    yield* forkLasting(
      // Nothing was compared.
      { name: "The reaper of forgotten runs", afterFailure: Effect.sync(ownRuns.doubt) },
      Effect.flatMap(ownRuns.doubted, reap)
    )
  })
)
