/** `AdmissionStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import type { EnvId } from "../foundation/Ids.ts"
import type { Timestamp } from "../foundation/time/Timestamp.ts"
import {
  type Admission,
  type AdmissionOutcome,
  AdmissionStore,
  type EarlierRequest,
  joinReplaced
} from "../runtime/runs/AdmissionStore.ts"
import { joinBatched } from "../runtime/runs/EventBatch.ts"
import { admitFlow, type FlowEffects } from "./FlowStatesMemory.ts"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { cancelByKeys } from "./RunCancellationMemory.ts"
import { changeSchedules } from "./ScheduleStoreMemory.ts"

export const layer: Layer.Layer<AdmissionStore, never, MemoryDatabase> = Layer.effect(
  AdmissionStore,
  Effect.map(MemoryDatabase, (db) => {
    const earlier = (envId: EnvId, key: string, now: Timestamp): EarlierRequest | null => {
      const taken = db.once.get(rowKey(envId, key))
      const event = taken === undefined ? undefined : db.events.get(taken.event_id)
      return taken === undefined || event === undefined || taken.expires_at <= now
        ? null
        : { event, digest: taken.digest }
    }

    const admit = ({ event, deliveries, request, schedule, cancels, now, until }: Admission): AdmissionOutcome => {
      const take = (key: string, digest: string): boolean => {
        const row = rowKey(event.env_id, key)
        const taken = db.once.get(row)
        if (taken !== undefined && taken.expires_at > now) return false
        db.once.set(row, { expires_at: until, event_id: event.event_id, digest })
        return true
      }

      const former = request === null ? null : earlier(event.env_id, request.key, now)
      if (former !== null) return { _tag: "Earlier", earlier: former }
      const refusal = schedule === undefined ? null : changeSchedules(db, schedule)
      if (refusal !== null) return { _tag: "Refused", refusal }
      if (request !== null) take(request.key, request.digest)
      db.events.set(event.event_id, event)
      const cancelled = cancels === undefined ? [] : [cancelByKeys(db, event, cancels, now)]
      const effects: FlowEffects = { replaced: cancelled, batched: [] }
      const kept = deliveries.flatMap((each) => {
        if (each.onceKey !== null && !take(each.onceKey, "")) return []
        const delivery = each.rules.length === 0 ? each.delivery : admitFlow(db, each, now, effects)
        return delivery === null ? [] : [delivery]
      })
      for (const delivery of kept) db.deliveries.set(delivery.delivery_id, { delivery, run_id: null })
      return {
        ...{ _tag: "Stored", deliveries: kept.map((delivery) => delivery.delivery_id) },
        ...joinReplaced(effects.replaced),
        ...joinBatched(effects.batched)
      }
    }

    return AdmissionStore.of({
      admit: (admission) => Effect.sync(() => admit(admission)),

      earlier: (envId, key, now) => Effect.sync(() => earlier(envId, key, now)),

      forget: (now, limit) =>
        Effect.sync(() => {
          const free = [...db.once].filter(([, taken]) => taken.expires_at <= now).slice(0, limit)
          for (const [row] of free) db.once.delete(row)
          const states = [...db.flowStates].filter(([, state]) => state.expires_at <= now)
          const old = states.slice(0, limit - free.length)
          for (const [row] of old) db.flowStates.delete(row)
          return free.length + old.length
        })
    })
  })
)

const rowKey = (envId: EnvId, key: string): string => `${envId} ${key}`
