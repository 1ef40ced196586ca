/**
 * `EventLog`: an event and the intent to handle it, in one commit.
 *
 * While the node has free slots and nothing older waits, its own deliveries are born claimed and begin right
 * after the commit; otherwise they wait in the store, where any node may claim them.
 */
import { Effect, Layer, Queue } from "effect"
import { Feed } from "../activity/Feed.ts"
import { EventLog } from "../events/EventLog.ts"
import { DeliveryId, freshIds, RunId } from "../ids/Ids.ts"
import { newDelivery, startRun } from "./Attempt.ts"
import { Claimer } from "./Claimer.ts"
import type { Delivery } from "./Delivery.ts"
import { Journal } from "./Journal.ts"
import { NodeLease } from "./NodeLease.ts"
import type { Run } from "./Run.ts"
import { Slots } from "./Slots.ts"

export const layer = Layer.effect(
  EventLog,
  Effect.gen(function* () {
    const journal = yield* Journal
    const lease = yield* NodeLease
    const slots = yield* Slots
    const claimer = yield* Claimer
    const feed = yield* Feed
    const fresh = yield* freshIds

    return EventLog.of({
      append: Effect.fnUntraced(function* (event, matches, causedBy) {
        const reserved = matches.length === 0 ? 0 : slots.reserve(event.env_id, matches.length)
        const deliveries: Array<{ delivery: Delivery; run: Run | null }> = []
        for (const match of matches) {
          const id = yield* fresh(DeliveryId)
          const delivery = newDelivery(event, match, id, causedBy)
          deliveries.push({ delivery, run: null })
          if (deliveries.length > reserved) continue
          const runId = yield* fresh(RunId)
          deliveries[deliveries.length - 1] = {
            delivery,
            run: startRun(delivery, runId, lease.nodeId, event.created_at)
          }
        }
        const written = journal.write({ _tag: "Appended", event, deliveries })
        yield* reserved === 0
          ? written
          : Effect.onError(written, () => Effect.sync(() => slots.release(event.env_id, reserved)))
        for (const { delivery, run } of deliveries) {
          if (run !== null) Queue.offerUnsafe(slots.claimed, { delivery, event, run })
        }
        if (reserved < deliveries.length) {
          claimer.claim(slots.waits(event.env_id))
          yield* feed.tell([{ type: "deliveries:waiting", node_id: lease.nodeId }])
        }
      }, Effect.uninterruptible)
    })
  })
)
