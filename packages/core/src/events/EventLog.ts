/**
 * Where published events go: the seam between publishing and running.
 *
 * `deliveries/Intake` implements it, so that an event and its deliveries are one commit.
 */
import { Context, type Effect } from "effect"
import type { Match } from "../builds/Deployments.ts"
import type { BadRequest, StoreUnavailable } from "../errors/Errors.ts"
import type { EnvId, RunId } from "../ids/Ids.ts"
import type { ScheduleChange } from "../schedules/Schedule.ts"
import type { Event } from "./Event.ts"

/** A request that counts once in 24 hours, however often it is made. */
export interface OnceRequest {
  /** The client's name for it, unique in its environment. */
  readonly key: string
  /** Of all that was asked for, so that another request by the same name is found out. */
  readonly digest: string
}

export interface Publication {
  readonly event: Event
  readonly matches: ReadonlyArray<Match>
  readonly causedBy: RunId | null
  /** Whether it is the first event of its stream. */
  readonly beginsStream: boolean
  readonly request: OnceRequest | null
  /** Made together with the event. */
  readonly schedule?: ScheduleChange
}

export class EventLog extends Context.Service<
  EventLog,
  {
    /**
     * Durable when it returns: the event is stored and every match will run, whatever happens to this process; matches
     * that their idempotency leaves out excepted. Gives the event, or that of an earlier request of the same key:
     * then nothing is stored. `BadRequest` when that was another request, and when `schedule` cannot be: then nothing
     * is stored either. Tells the feed of what it stored, before anything of what that sets off.
     */
    readonly append: (publication: Publication) => Effect.Effect<Event, BadRequest | StoreUnavailable>

    /** As `append`, of many of one environment: the events in their order. Where one fails, others may be stored. */
    readonly appendAll: (
      publications: ReadonlyArray<Publication>
    ) => Effect.Effect<ReadonlyArray<Event>, BadRequest | StoreUnavailable>

    /** What the request has stored before, if it has. */
    readonly earlier: (envId: EnvId, request: OnceRequest) => Effect.Effect<Event | null, BadRequest | StoreUnavailable>
  }
>()("@weft/core/events/EventLog") {}
