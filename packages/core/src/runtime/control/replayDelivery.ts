/** The delivery that runs a function again. */
import { Effect } from "effect"
import type { DeliveryId, RunId } from "../../foundation/Ids.ts"
import { currentTraceparent } from "../../foundation/telemetry/Spans.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import type { Match } from "../../resources/builds/Deployments.ts"
import type { Event } from "../events/Event.ts"
import { newDelivery } from "../runs/Attempt.ts"
import type { Delivery } from "../runs/Delivery.ts"
import { makeDeliveryKeys } from "../runs/DeliveryKeys.ts"

/** Returns a function that builds a delivery, due now, for the event of the replayed run `runId`. */
export const makeReplayDelivery = Effect.map(makeDeliveryKeys, (keys) =>
  Effect.fnUntraced(function* (event: Event, match: Match, id: DeliveryId, runId: RunId): Effect.fn.Return<Delivery> {
    const group = yield* keys.group(event, match)
    const delivery = newDelivery(event, match, id, { run_id: runId, depth: 0 }, group, yield* currentTraceparent)
    return { ...delivery, ...(yield* keys.startTerms(event, match)), due_at: yield* currentTime }
  })
)
