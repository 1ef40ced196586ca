/** Cancels, replays and wakes runs for callers. */
import { Context, type Duration, Effect, Layer } from "effect"
import {
  BadRequest,
  type Forbidden,
  type NotFound,
  type PlanRequired,
  type RateLimited,
  type StoreUnavailable
} from "../../foundation/Errors.ts"
import { EventId, idReader } from "../../foundation/Ids.ts"
import { before, now as currentTime } from "../../foundation/time/Timestamp.ts"
import { type Caller, requirePermission } from "../../tenants/access/Caller.ts"
import { readable } from "../../tenants/access/Permission.ts"
import type { Run, RunType } from "../runs/Run.ts"
import type { RunSelection } from "../runs/RunControlStore.ts"
import type { Called } from "./Calls.ts"
import { type CleanupOption, makeCleanupRequest } from "./CleanupRequest.ts"
import { makeFindCallable } from "./callableRun.ts"
import { makeCancelBatch } from "./cancelRuns.ts"
import { makeReplay } from "./Replay.ts"
import type { ReplayBuild } from "./ReplayMatch.ts"
import { makeWake } from "./wakeRun.ts"

/** Selects running runs; all of them without any field. */
export interface CancelQuery {
  readonly type?: RunType
  /** Only runs that started within this time before now. */
  readonly within?: Duration.Duration
  readonly eventId?: string
}

type RunControlError = Forbidden | StoreUnavailable

export class RunControl extends Context.Service<
  RunControl,
  {
    /**
     * Ends a running run as `cancelled`: no attempt follows, and results of its code until it stops are ignored. Fails
     * with `BadRequest` if the run has ended. Requires `call: create` on its function.
     *
     * With `cleanup`, a durable run may clean up first, for at most that time: `true` is 30 seconds, a duration at most
     * 5 minutes. It stays `running` until then. See `docs/durable.md`.
     */
    readonly cancel: (
      id: string,
      cleanup?: CleanupOption
    ) => Effect.Effect<Run, RunControlError | NotFound | BadRequest, Caller>
    /**
     * Runs the function of a run again for the same event and stream, as a new run of type `run` whose origin is
     * this one. The function's current retry policy applies. Fails with `BadRequest` for a run without an event, and if
     * the build or its function does not exist. With `from`, an ended durable run is repeated from its first step or wait with
     * this name, or from that position. The new run begins with the results before it. Requires `call: create` on the function.
     */
    readonly replay: (
      id: string,
      build?: ReplayBuild,
      from?: string
    ) => Effect.Effect<Called, RunControlError | NotFound | BadRequest | PlanRequired | RateLimited, Caller>
    /**
     * Ends the sleep, or the pause before the next attempt at a step, that a suspended durable run waits for: it continues
     * now. Returns the run, and adds an entry to the audit log. Fails with `BadRequest` for any other run. Requires
     * `call: create` on its function.
     */
    readonly wake: (id: string) => Effect.Effect<Run, RunControlError | NotFound | BadRequest, Caller>
    /** As `cancel`, for all running runs that the query selects and the caller may call. Returns their number. */
    readonly cancelAll: (query: CancelQuery) => Effect.Effect<number, RunControlError | BadRequest, Caller>
  }
>()("@weft/core/runtime/control/RunControl") {
  static readonly layer = Layer.effect(
    RunControl,
    Effect.gen(function* () {
      const findCallable = yield* makeFindCallable
      const cancelBatch = yield* makeCancelBatch
      const requestCleanup = yield* makeCleanupRequest
      const replay = yield* makeReplay
      const wake = yield* makeWake

      return RunControl.of({
        cancel: Effect.fnUntraced(function* (text, cleanup = false) {
          const run = yield* findCallable(text)
          const { env_id, run_id } = run
          if (cleanup !== false) return yield* requestCleanup(run, cleanup)
          const [cancelled] = yield* cancelBatch(env_id, { runId: run_id })
          return (
            cancelled ?? (yield* new BadRequest({ reason: "The run has ended: only a running one can be cancelled" }))
          )
        }),

        replay: (text, build = "same", from) => Effect.flatMap(findCallable(text), (run) => replay(run, build, from)),

        wake: (text) => Effect.flatMap(findCallable(text), wake),

        cancelAll: Effect.fnUntraced(function* ({ type, within, eventId }) {
          const caller = yield* requirePermission("call", [], "create")
          const until = yield* currentTime
          const functions = readable(caller.permissions, "call", "create")
          const which: RunSelection = {
            // Runs that begin later, perhaps because of a cancelled run, are not selected.
            until,
            ...(type === undefined ? {} : { type }),
            ...(within === undefined ? {} : { since: before(until, within) }),
            ...(eventId === undefined ? {} : { eventId: yield* decodeEventId(eventId) }),
            ...(functions === "all" ? {} : { functions })
          }
          let count = 0
          while (true) {
            const cancelled = yield* cancelBatch(caller.env_id, which)
            count += cancelled.length
            if (cancelled.length === 0) return count
          }
        })
      })
    })
  )
}

const readEventId = idReader(EventId)

const decodeEventId = (text: string): Effect.Effect<EventId, BadRequest> => {
  const eventId = readEventId(text)
  return eventId === null ? Effect.fail(new BadRequest({ reason: "event_id must be a UUID" })) : Effect.succeed(eventId)
}
