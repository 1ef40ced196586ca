/** Continues durable runs as new ones: the end of one and the start of the next are one transaction. */
import { Effect, type Schema } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { DeliveryId, EventId, freshIds } from "../../foundation/Ids.ts"
import { toJsonText } from "../../foundation/JsonText.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { Deployments } from "../../resources/builds/Deployments.ts"
import type { Event } from "../events/Event.ts"
import { Journal } from "../journal/Journal.ts"
import type { Claim } from "../journal/JournalStore.ts"
import { SeriesRecorder } from "../journal/SeriesRecorder.ts"
import { UnconfirmedWrites } from "../journal/UnconfirmedWrites.ts"
import { eventActivity, latestActivity, publicationActivity } from "../runs/Activity.ts"
import { endRun } from "../runs/Attempt.ts"
import type { Delivery } from "../runs/Delivery.ts"
import type { LogEntry } from "../runs/Run.ts"
import { RunControlStore } from "../runs/RunControlStore.ts"
import { Claimer } from "./Claimer.ts"
import { Slots } from "./Slots.ts"

interface Renewed {
  readonly args: ReadonlyArray<Schema.Json>
  readonly logs: ReadonlyArray<LogEntry>
}

const usage = { cpu_ms: 0, wall_ms: 0, heap_bytes: 0 }

/**
 * Returns a function that ends the run of a claim and stores the next one. Its stream, its depth in the chain and its
 * concurrency group are the same. Returns false if the run is no longer held, or if its parent no longer waits for it.
 */
export const makeRenew = Effect.gen(function* () {
  const store = yield* RunControlStore
  const deployments = yield* Deployments
  const unconfirmed = yield* UnconfirmedWrites
  const journal = yield* Journal
  const series = yield* SeriesRecorder
  const bus = yield* ClusterBus
  const claimer = yield* Claimer
  const slots = yield* Slots
  const fresh = yield* freshIds

  /** Returns the delivery with the deployed build. Without the function there, the next run keeps the build. */
  const withDeployed = (delivery: Delivery) =>
    Effect.map(deployments.of(delivery.env_id), (functions): Delivery => {
      const { project_id, ns, var: name } = delivery
      const found = functions.functions(`${ns}/${name}`).find(({ build }) => build.project_id === project_id)
      if (found === undefined || !found.handler.durable) return delivery
      const { on_failure: _, ...rest } = delivery
      const { build_id, project_name } = found.build
      const { retry, timeout_ms, on_failure } = found.handler
      const deployed = { ...rest, build_id, project_name, retry, timeout_ms }
      return on_failure === undefined ? deployed : { ...deployed, on_failure }
    })

  return Effect.fnUntraced(function* (
    { run, delivery, event }: Claim,
    { args, logs }: Renewed
  ): Effect.fn.Return<boolean, StoreUnavailable> {
    const now = yield* currentTime
    const fn = `${delivery.project_name}:${delivery.ns}/${delivery.var}`
    const next: Event = {
      ...{ event_id: yield* fresh(EventId), env_id: run.env_id, stream_id: run.stream_id, event_type: "svc:call" },
      ...{ event_data: toJsonText({ fn, args: [...args] }), event_time: now, created_at: now }
    }
    const { event_id } = next
    const output = toJsonText({ continued: event_id })
    const ended = endRun(run, { outcome: { _tag: "Returned", output }, usage }, now)
    // The new run has the arguments, and not the events of a batch.
    const { batch: _, ...single } = delivery
    const renewal = {
      ...{ run: ended, logs, deliveryId: delivery.delivery_id, event: next },
      delivery: {
        ...{ ...(yield* withDeployed(single)), delivery_id: yield* fresh(DeliveryId), event_id },
        ...({ run_type: "call", attempt: 1, due_at: now, caused_by: run.run_id, first_run_id: null } as const),
        continues: null
      }
    }
    if (!(yield* unconfirmed.track(store.renew(renewal), now))) return false
    journal.countEnded(ended)
    series.countEnd(ended)
    const handled = eventActivity("event:handled", event)
    yield* bus.publish([latestActivity(ended), handled, ...publicationActivity(next, false)])
    claimer.claim(slots.addPending(run.env_id))
    yield* bus.sendControl([{ type: "deliveries:waiting", node_id: null }])
    return true
  }, Effect.uninterruptible)
})
