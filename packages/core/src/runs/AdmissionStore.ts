/**
 * Storing what is published once only: the event, its deliveries and the keys that it takes are one transaction.
 *
 * A key belongs to an environment and to who took it first, until it expires; from then on it is free again.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { Event } from "../events/Event.ts"
import type { DeliveryId, EnvId } from "../ids/Ids.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { ScheduleChange, ScheduleRefusal } from "../schedules/Schedule.ts"
import type { Delivery } from "./Delivery.ts"

export interface Admission {
  readonly event: Event
  /** All of them wait. One with a key that is taken is left out. */
  readonly deliveries: ReadonlyArray<{ readonly delivery: Delivery; readonly onceKey: string | null }>
  /** If its key is taken, nothing is stored. `digest` tells requests apart. */
  readonly request: { readonly key: string; readonly digest: string } | null
  /** If it cannot be made, nothing is stored. */
  readonly schedule?: ScheduleChange
  readonly now: Timestamp
  /** Until when the keys are taken. */
  readonly until: Timestamp
}

/** A request that has taken a key, with the event that it stored. */
export interface EarlierRequest {
  readonly event: Event
  readonly digest: string
}

export type Admitted =
  /** The event is stored, with those of its deliveries. */
  | { readonly _tag: "Stored"; readonly deliveries: ReadonlyArray<DeliveryId> }
  | { readonly _tag: "Earlier"; readonly earlier: EarlierRequest }
  | { readonly _tag: "Refused"; readonly refusal: ScheduleRefusal }

export class AdmissionStore extends Context.Service<
  AdmissionStore,
  {
    /** Durable when it returns. Of concurrent admissions with the same key one takes it. */
    readonly admit: (admission: Admission) => Effect.Effect<Admitted, StoreUnavailable>

    /** The request that has taken the key, if there is one at `now`. */
    readonly earlier: (
      envId: EnvId,
      key: string,
      now: Timestamp
    ) => Effect.Effect<EarlierRequest | null, StoreUnavailable>

    /** Removes keys that are free again at `now`, at most `limit`. Gives how many; call again until that is 0. */
    readonly forget: (now: Timestamp, limit: number) => Effect.Effect<number, StoreUnavailable>
  }
>()("@weft/core/runs/AdmissionStore") {}
