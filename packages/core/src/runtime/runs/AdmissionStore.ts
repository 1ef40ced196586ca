/**
 * Seam for storing publications with idempotency keys: the event, its deliveries and its keys are one transaction.
 *
 * A key belongs to an environment and to the first request or delivery that takes it, until it expires.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { DeliveryId, EnvId, EventId } from "../../foundation/Ids.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { ScheduleChange, ScheduleRefusal } from "../../resources/schedules/Schedule.ts"
import type { Event } from "../events/Event.ts"
import type { Delivery } from "./Delivery.ts"
import type { Batched } from "./EventBatch.ts"
import type { FlowRule } from "./FlowRules.ts"
import type { CancelledRun } from "./RunControlStore.ts"

export interface AdmittedDelivery {
  readonly delivery: Delivery
  readonly onceKey: string | null
  /** Rules in their order. After one that drops the delivery, the following ones do not count. */
  readonly rules: ReadonlyArray<FlowRule>
}

export interface Admission {
  readonly event: Event
  /** Deliveries, all pending. One whose key is taken is left out, and so is one that a rule drops or whose event joins a batch. */
  readonly deliveries: ReadonlyArray<AdmittedDelivery>
  /** Idempotent request. If its key is taken, nothing is stored. `digest` identifies the content of the request. */
  readonly request: { readonly key: string; readonly digest: string } | null
  /** Change of schedules. If it is refused, nothing is stored. */
  readonly schedule?: ScheduleChange
  /** The event cancels deliveries and runs of earlier events with one of these keys, at most `cancelledMax`. */
  readonly cancels?: ReadonlyArray<string>
  readonly now: Timestamp
  /** Expiry of the keys. */
  readonly until: Timestamp
}

/** An earlier request with the same key, and its event. */
export interface EarlierRequest {
  readonly event: Event
  readonly digest: string
}

/** Maximum deliveries and runs that an event cancels. */
export const cancelledMax = 1_000

/** Runs that an admission cancelled, and pending deliveries that it removed. */
export interface Replaced {
  readonly runs: ReadonlyArray<CancelledRun>
  /** Events of the deliveries. */
  readonly events: ReadonlyArray<EventId>
}

/** Returns the field of an outcome for what several deliveries replaced; none if they replaced nothing. */
export const joinReplaced = (all: ReadonlyArray<Replaced>): { readonly replaced?: Replaced } => {
  const replaced = { runs: all.flatMap(({ runs }) => runs), events: all.flatMap(({ events }) => events) }
  return replaced.runs.length + replaced.events.length === 0 ? {} : { replaced }
}

export type AdmissionOutcome =
  /** The event was stored, with these deliveries. */
  | {
      readonly _tag: "Stored"
      readonly deliveries: ReadonlyArray<DeliveryId>
      readonly replaced?: Replaced
      readonly batched?: Batched
    }
  | { readonly _tag: "Earlier"; readonly earlier: EarlierRequest }
  | { readonly _tag: "Refused"; readonly refusal: ScheduleRefusal }

export class AdmissionStore extends Context.Service<
  AdmissionStore,
  {
    /** Stores an admission durably. Of concurrent admissions with the same key, one takes it. */
    readonly admit: (admission: Admission) => Effect.Effect<AdmissionOutcome, StoreUnavailable>

    /** Returns the request that holds the key at `now`, or null. */
    readonly earlier: (
      envId: EnvId,
      key: string,
      now: Timestamp
    ) => Effect.Effect<EarlierRequest | null, StoreUnavailable>

    /** Removes keys and states of rules that expired before `now`, at most `limit`. Returns their number; call again until that is 0. */
    readonly forget: (now: Timestamp, limit: number) => Effect.Effect<number, StoreUnavailable>
  }
>()("@weft/core/runtime/runs/AdmissionStore") {}
