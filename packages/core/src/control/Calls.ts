/** Calling a function by its name, and waiting for what it gives. */
import { Context, Effect, Layer, type Schema } from "effect"
import { Caller, hostIdentity } from "../access/Caller.ts"
import {
  BadRequest,
  type Forbidden,
  type NotFound,
  type PlanRequired,
  type StoreUnavailable
} from "../errors/Errors.ts"
import type { Event } from "../events/Event.ts"
import { Events } from "../events/Events.ts"
import { SystemEvents } from "../events/SystemEvents.ts"
import { isLast } from "../runs/Attempt.ts"
import type { Run } from "../runs/Run.ts"
import { RunStore } from "../runs/RunStore.ts"
import { StreamWatch } from "./StreamWatch.ts"

export interface NewCall {
  /** `ns/var`, or `project:ns/var`. */
  readonly fn: string
  readonly args?: ReadonlyArray<Schema.Json>
  /** Seconds to wait for the end, 0 to 300; 0 by default. */
  readonly wait?: number
  /** As for events. */
  readonly idempotencyKey?: string
  /** As for events. */
  readonly traceparent?: string
}

export interface Called {
  /** The `svc:call` that is stored. */
  readonly event: Event
  /** The run of the latest attempt; null when none has begun yet. */
  readonly run: Run | null
}

const waitMaxSeconds = 300

/** How long to wait for the first run to begin. */
const beginsWithinMs = 1_000

export class Calls extends Context.Service<
  Calls,
  {
    /**
     * Publishes `svc:call`, so that the function runs whatever happens to this process. Gives the run as soon as it has
     * begun; with `wait` when no attempt follows, or as it stands when the time is over. Interruption ends the waiting,
     * not the call. Needs `call: create` on the function, and nothing else.
     */
    readonly call: (
      call: NewCall
    ) => Effect.Effect<Called, Forbidden | BadRequest | PlanRequired | NotFound | StoreUnavailable, Caller>
  }
>()("@weft/core/runs/Calls") {
  static readonly layer = Layer.effect(
    Calls,
    Effect.gen(function* () {
      const events = yield* Events
      const system = yield* SystemEvents
      const store = yield* RunStore
      const watch = yield* StreamWatch

      return Calls.of({
        call: Effect.fnUntraced(function* ({ fn, args = [], wait = 0, idempotencyKey, traceparent }) {
          const caller = yield* Caller
          const match = yield* system.callee(fn, "fn")
          if (!(wait >= 0 && wait <= waitMaxSeconds)) {
            return yield* new BadRequest({ reason: `wait must be a number of seconds from 0 to ${waitMaxSeconds}` })
          }
          // The right to call is what it takes; that the call is an event is our affair.
          const event = yield* Effect.provideService(
            events.publish({
              type: "svc:call",
              data: { fn, args: [...args] },
              ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
              ...(traceparent === undefined ? {} : { traceparent })
            }),
            Caller,
            hostIdentity(caller.env_id)
          )
          const latest = Effect.map(
            store.list(event.env_id, { limit: 1, offset: 0 }, { eventId: event.event_id }),
            ({ items }) => items[0] ?? null
          ).pipe(Effect.catchTag("PageTooLarge", Effect.die))
          const over = Effect.map(latest, (run) =>
            run !== null && isLast(run, match.handler.retry.attempts) ? run : null
          )
          const waitMs = wait * 1000
          const ended = waitMs === 0 ? null : yield* watch.until(event.stream_id, over, waitMs)
          return { event, run: ended ?? (yield* watch.until(event.stream_id, latest, beginsWithinMs - waitMs)) }
        })
      })
    })
  )
}
