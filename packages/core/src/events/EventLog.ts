/**
 * Where published events go: the seam between publishing and running.
 *
 * `runs/Journal` implements it, so that an event and its deliveries are one commit.
 */
import { Context, type Effect } from "effect"
import type { Match } from "../builds/Deployments.ts"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { RunId } from "../ids/Ids.ts"
import type { Event } from "./Event.ts"

export class EventLog extends Context.Service<
  EventLog,
  {
    /** Durable when it returns: the event is stored and every match will run, whatever happens to this process. */
    readonly append: (
      event: Event,
      matches: ReadonlyArray<Match>,
      causedBy: RunId | null
    ) => Effect.Effect<void, StoreUnavailable>
  }
>()("@weft/core/events/EventLog") {}
