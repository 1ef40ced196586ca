/** Runs a function again for a stored event. */
import { Effect, type Schema } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"
import { DeliveryId, EventId, freshIds } from "../../foundation/Ids.ts"
import { fromJsonText, toJsonText } from "../../foundation/JsonText.ts"
import { KeyedSemaphore } from "../../foundation/KeyedSemaphore.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import { Claimer } from "../dispatch/Claimer.ts"
import { Slots } from "../dispatch/Slots.ts"
import { readCall } from "../events/CallData.ts"
import type { Event } from "../events/Event.ts"
import { EventStore } from "../events/EventStore.ts"
import { UnconfirmedWrites } from "../journal/UnconfirmedWrites.ts"
import { publicationActivity } from "../runs/Activity.ts"
import type { Delivery } from "../runs/Delivery.ts"
import type { Run } from "../runs/Run.ts"
import { RunControlStore } from "../runs/RunControlStore.ts"
import { RunStore } from "../runs/RunStore.ts"
import { admitDelivery } from "./admitDelivery.ts"
import { makeFork } from "./ReplayFrom.ts"
import { makeFindReplay, type ReplayBuild } from "./ReplayMatch.ts"
import { makeReplayDelivery } from "./replayDelivery.ts"
import { StreamWatch } from "./StreamWatch.ts"

/** Maximum concurrent transactions of replays of an environment, behind which those of other environments wait. */
const replaysPerEnv = 4

/** Maximum wait for the start of the new run, in milliseconds. */
const startWaitMs = 1_000

/** Maximum newest replays of the same run among which the new run is searched. */
const searchedMax = 10

export const makeReplay = Effect.gen(function* () {
  const events = yield* EventStore
  const runs = yield* RunStore
  const store = yield* RunControlStore
  const quotas = yield* Quotas
  const watch = yield* StreamWatch
  const toDelivery = yield* makeReplayDelivery
  const fresh = yield* freshIds
  const findMatch = yield* makeFindReplay
  const claimer = yield* Claimer
  const slots = yield* Slots
  const bus = yield* ClusterBus
  const permits = new KeyedSemaphore(replaysPerEnv)

  const fork = yield* makeFork
  const change = yield* makeChange
  const unconfirmed = yield* UnconfirmedWrites

  const deliver = (delivery: Delivery, changed: Event | undefined) =>
    changed === undefined
      ? store.redeliver(delivery)
      : Effect.uninterruptible(
          Effect.andThen(
            unconfirmed.track(store.redeliver(delivery, changed), changed.created_at),
            bus.publish(publicationActivity(changed, false))
          )
        )

  return Effect.fnUntraced(function* (run: Run, build: ReplayBuild, from?: string, data?: Schema.Json) {
    const { env_id, event_id } = run
    if (event_id === null)
      return yield* new BadRequest({
        reason: "The run has no event and cannot be replayed: requests of webhooks and tools are not stored"
      })
    if (from !== undefined && data !== undefined)
      return yield* new BadRequest({ reason: "event_data cannot be combined with from: its steps had the other data" })
    if (run.event_ids !== null && data !== undefined)
      return yield* new BadRequest({ reason: "event_data cannot replace the data of the events of a batch" })
    const stored = yield* events.get(env_id, event_id)
    const changed = data === undefined ? undefined : yield* change(stored, data)
    const event = changed ?? stored
    const match = yield* findMatch(run, build)
    const before = from === undefined ? null : yield* fork.findPosition(run, from)
    yield* admitDelivery(quotas, env_id, match.handler)
    const replays = runs.replays({ ...run, event_id: event.event_id }, searchedMax)
    const known = new Set(yield* replays)

    const due = yield* toDelivery(event, match, yield* fresh(DeliveryId), run)
    yield* permits.withPermit(env_id, before === null ? deliver(due, changed) : fork.start(run, due, before))
    claimer.claim(slots.addPending(env_id))
    yield* bus.sendControl([{ type: "deliveries:waiting", node_id: null }])

    const begun = Effect.map(replays, (all) => all.find((id) => !known.has(id)) ?? null)
    const newId = yield* watch.until(event.stream_id, begun, startWaitMs)
    return { event, run: newId === null ? null : yield* runs.get(env_id, newId) }
  })
})

/**
 * Returns a function that makes an event with other data: of the same type and on the same stream. It is delivered to the one
 * function only, and no durable run that waits for such an event receives it. The stored event stays as it is.
 */
const makeChange = Effect.gen(function* () {
  const fresh = yield* freshIds
  return Effect.fnUntraced(function* ({ event_type, event_data, ...stored }: Event, data: Schema.Json) {
    if (event_type === "svc:call") {
      const { fn } = yield* readCall(data)
      const called = yield* readCall(fromJsonText(event_data))
      if (fn !== called.fn)
        return yield* new BadRequest({ reason: `event_data.fn must be ${called.fn}: a replay runs the same function` })
    }
    const now = yield* currentTime
    const event: Event = {
      ...{ ...stored, event_id: yield* fresh(EventId), event_type, event_data: toJsonText(data) },
      ...{ event_time: now, created_at: now }
    }
    return event
  })
})
