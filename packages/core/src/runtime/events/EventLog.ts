/**
 * Seam between publishing and dispatching.
 *
 * `dispatch/EventWriter` implements it, so that an event and its deliveries are one commit.
 */
import { Context, type Effect } from "effect"
import type { BadRequest, StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import type { Match } from "../../resources/builds/Deployments.ts"
import type { ScheduleChange } from "../../resources/schedules/Schedule.ts"
import type { Cause } from "./Cause.ts"
import type { Event } from "./Event.ts"

/** A request that is executed once within 24 hours, however often it is repeated. */
export interface OnceRequest {
  /** Key of the client, unique in its environment. */
  readonly key: string
  /** Digest of the request, which detects a different request with the same key. */
  readonly digest: string
}

export interface Publication {
  readonly event: Event
  readonly matches: ReadonlyArray<Match>
  readonly cause: Cause
  /** True if it is the first event of its stream. */
  readonly beginsStream: boolean
  readonly request: OnceRequest | null
  /** Functions whose earlier runs the event cancels, if the values of their expressions are the same. */
  readonly cancels?: ReadonlyArray<Match>
  /** Change of schedules in the same transaction. */
  readonly schedule?: ScheduleChange
}

export class EventLog extends Context.Service<
  EventLog,
  {
    /**
     * Stores the event and a delivery for every match, durably: each will run, whatever happens to this process. Matches
     * whose idempotency key is taken are left out. Returns the event, or that of an earlier request with the same key;
     * then nothing is stored. Fails with `BadRequest` and stores nothing if the earlier request was different, or if
     * `schedule` is refused. Publishes the activity of the event before that of its runs.
     */
    readonly append: (publication: Publication) => Effect.Effect<Event, BadRequest | StoreUnavailable>

    /** As `append`, for many publications of one environment, in order. If one fails, others may be stored. */
    readonly appendAll: (
      publications: ReadonlyArray<Publication>
    ) => Effect.Effect<ReadonlyArray<Event>, BadRequest | StoreUnavailable>

    /** Returns the event that an earlier request with the key stored, or null. */
    readonly earlier: (envId: EnvId, request: OnceRequest) => Effect.Effect<Event | null, BadRequest | StoreUnavailable>
  }
>()("@weft/core/runtime/events/EventLog") {}
