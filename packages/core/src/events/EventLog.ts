/**
 * Where published events go: the seam between publishing and running.
 *
 * `runs/Journal` implements it, so that an event and its deliveries are one commit.
 */
import { Context, type Effect } from "effect"
import type { Build } from "../builds/Build.ts"
import type { EventHandler } from "../builds/Manifest.ts"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { RunId } from "../ids/Ids.ts"
import type { Event } from "./Event.ts"

/** A handler that is to run for an event, in the build that was deployed when the event was published. */
export interface Match {
  readonly build: Build
  readonly handler: EventHandler
}

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
