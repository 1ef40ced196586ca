/** Calls a function by its name, and waits for its result if the caller wants it. */
import { Context, Effect, Layer, type Schema } from "effect"
import type {
  BadRequest,
  Forbidden,
  NotFound,
  Paused,
  PlanRequired,
  RateLimited,
  StoreUnavailable
} from "../../foundation/Errors.ts"
import { EventId, freshIdsNow } from "../../foundation/Ids.ts"
import type { Match } from "../../resources/builds/Deployments.ts"
import { Caller, hostIdentity } from "../../tenants/access/Caller.ts"
import type { Event } from "../events/Event.ts"
import { Events } from "../events/Events.ts"
import { SystemEvents } from "../events/SystemEvents.ts"
import { ActivePauses } from "../journal/ActivePauses.ts"
import { pausedError } from "../runs/Pause.ts"
import type { Run } from "../runs/Run.ts"
import { checkWait, makeAwaitRun } from "./awaitRun.ts"

export interface NewCall {
  /** `ns/var`, or `project:ns/var`. */
  readonly fn: string
  readonly args?: ReadonlyArray<Schema.Json>
  /** Seconds to wait for the end, 0 to 300; 0 by default. */
  readonly wait?: number
  /** As in `NewEvent`. */
  readonly idempotencyKey?: string
  /** As in `NewEvent`. */
  readonly traceparent?: string
}

export interface Called {
  /** The stored `svc:call` event. */
  readonly event: Event
  /** Run of the latest attempt; null if none has begun yet. */
  readonly run: Run | null
}

export class Calls extends Context.Service<
  Calls,
  {
    /**
     * Publishes `svc:call`, so that the function runs whatever happens to this process. Returns the run once it has
     * begun. With `wait`, returns it after its last attempt, or as it is when the time has elapsed. Interruption ends the
     * wait, not the call. With `wait`, a call of a paused function fails with `Paused` and publishes nothing. Requires only `call: create` on the function.
     */
    readonly call: (
      call: NewCall
    ) => Effect.Effect<
      Called,
      Forbidden | BadRequest | PlanRequired | RateLimited | NotFound | Paused | StoreUnavailable,
      Caller
    >
  }
>()("@weft/core/runtime/control/Calls") {
  static readonly layer = Layer.effect(
    Calls,
    Effect.gen(function* () {
      const events = yield* Events
      const system = yield* SystemEvents
      const awaitRun = yield* makeAwaitRun
      const pauses = yield* ActivePauses
      const fresh = yield* freshIdsNow

      /** Fails if the function starts no run, so that nobody waits for one. */
      const checkPause = ({ build: { env_id, project_id }, handler: { ns, var: name } }: Match) => {
        const pause = pauses.find({ env_id, project_id, ns, var: name })
        return pause === undefined ? Effect.void : Effect.fail(pausedError(pause))
      }

      return Calls.of({
        call: Effect.fnUntraced(function* ({ fn, args = [], wait = 0, idempotencyKey, traceparent }) {
          const caller = yield* Caller
          const event_id = fresh(EventId)
          const data = { fn, args: [...args] }
          // The event is assigned in the same way when it is published.
          const input = () => ({ id: event_id, type: "svc:call", stream_id: "", data })
          const match = yield* system.findCallee(fn, "fn", () => ({ id: event_id, input }))
          yield* checkWait(wait)
          if (wait > 0) yield* checkPause(match)
          // The permission to call is sufficient. That a call is an event is an implementation detail.
          const event = yield* Effect.provideService(
            events.publish({
              type: "svc:call",
              event_id,
              data,
              ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
              ...(traceparent === undefined ? {} : { traceparent })
            }),
            Caller,
            hostIdentity(caller.env_id)
          )
          return { event, run: yield* awaitRun(event, match.handler.retry.attempts, wait) }
        })
      })
    })
  )
}
