/**
 * Takes leave of the other nodes when everything that runs here has ended.
 *
 * Whatever this node still had in mind is theirs at once: deliveries that it gave back or meant to try again, groups
 * that have room, and what it could not settle, because the store was away.
 */
import { Effect, Layer } from "effect"
import { Feed } from "../activity/Feed.ts"
import { logOutage } from "../errors/Lasting.ts"
import { JournalStore } from "./JournalStore.ts"
import { NodeLease } from "./NodeLease.ts"

/** To be built before all that writes to the journal, so that it ends after it. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* JournalStore
    const feed = yield* Feed
    const { nodeId } = yield* NodeLease
    yield* Effect.addFinalizer(() =>
      store
        .leave(nodeId)
        .pipe(
          Effect.catchTag("StoreUnavailable", logOutage),
          Effect.andThen(feed.tell([{ type: "deliveries:waiting", node_id: null }]))
        )
    )
  })
)
