/** The delivery that runs a function again. */
import { Effect } from "effect"
import type { DeliveryId } from "../../foundation/Ids.ts"
import { currentTraceparent } from "../../foundation/telemetry/Spans.ts"
import { now as currentTime, type Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Match } from "../../resources/builds/Deployments.ts"
import type { Event } from "../events/Event.ts"
import { newDelivery } from "../runs/Attempt.ts"
import type { Delivery } from "../runs/Delivery.ts"
import { makeDeliveryKeys } from "../runs/DeliveryKeys.ts"
import { completeBatch, parseEventIds } from "../runs/EventBatch.ts"
import type { Run } from "../runs/Run.ts"
import { isBatched } from "./ReplayMatch.ts"

type Replayed = Pick<Run, "run_id" | "build_id" | "event_ids">

/** Returns a function that builds a delivery, due now, for the event or the events of a replayed run. */
export const makeReplayDelivery = Effect.map(makeDeliveryKeys, (keys) =>
  Effect.fnUntraced(function* (event: Event, match: Match, id: DeliveryId, run: Replayed): Effect.fn.Return<Delivery> {
    const group = yield* keys.group(event, match)
    const delivery = newDelivery(event, match, id, { run_id: run.run_id, depth: 0 }, group, yield* currentTraceparent)
    const now = yield* currentTime
    return { ...delivery, ...(yield* keys.startTerms(event, match)), ...toBatch(run, event, match, now), due_at: now }
  })
)

const toBatch = (run: Replayed, event: Event, match: Match, now: Timestamp): Pick<Delivery, "batch"> => {
  if (!isBatched(run, match) || event.event_type.startsWith("svc:")) return {}
  const events = run.event_ids === null ? [event.event_id] : parseEventIds(run.event_ids)
  return { batch: completeBatch(events, now) }
}
