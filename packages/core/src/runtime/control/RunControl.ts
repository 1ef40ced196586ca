/** Cancels and replays runs for callers. */
import { Context, type Duration, Effect, Layer } from "effect"
import {
  BadRequest,
  type Forbidden,
  NotFound,
  type PlanRequired,
  type RateLimited,
  type StoreUnavailable
} from "../../foundation/Errors.ts"
import { EventId, idReader, RunId } from "../../foundation/Ids.ts"
import { before, now as currentTime } from "../../foundation/time/Timestamp.ts"
import { type Caller, type Identity, requirePermission } from "../../tenants/access/Caller.ts"
import { allows, readable } from "../../tenants/access/Permission.ts"
import type { Run, RunType } from "../runs/Run.ts"
import type { RunSelection } from "../runs/RunControlStore.ts"
import { RunStore } from "../runs/RunStore.ts"
import type { Called } from "./Calls.ts"
import { type CleanupOption, makeCleanupRequest } from "./CleanupRequest.ts"
import { makeCancelBatch } from "./cancelRuns.ts"
import { makeReplay, type ReplayBuild } from "./Replay.ts"

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
     * the build or its function does not exist. Requires `call: create` on the function.
     */
    readonly replay: (
      id: string,
      build?: ReplayBuild
    ) => Effect.Effect<Called, RunControlError | NotFound | BadRequest | PlanRequired | RateLimited, Caller>
    /** As `cancel`, for all running runs that the query selects and the caller may call. Returns their number. */
    readonly cancelAll: (query: CancelQuery) => Effect.Effect<number, RunControlError | BadRequest, Caller>
  }
>()("@weft/core/runtime/control/RunControl") {
  static readonly layer = Layer.effect(
    RunControl,
    Effect.gen(function* () {
      const runs = yield* RunStore
      const cancelBatch = yield* makeCancelBatch
      const requestCleanup = yield* makeCleanupRequest
      const replay = yield* makeReplay

      /** Returns the run if the caller may call its function. */
      const getCallable = Effect.fnUntraced(function* (text: string) {
        const caller = yield* requirePermission("call", [], "create")
        const runId = readRunId(text)
        if (runId === null) return yield* new NotFound({ resource: "run" })
        const run = yield* runs.get(caller.env_id, runId)
        return mayCall(caller, run) ? run : yield* new NotFound({ resource: "run" })
      })

      return RunControl.of({
        cancel: Effect.fnUntraced(function* (text, cleanup = false) {
          const run = yield* getCallable(text)
          const { env_id, run_id } = run
          if (cleanup !== false) return yield* requestCleanup(run, cleanup)
          const [cancelled] = yield* cancelBatch(env_id, { runId: run_id })
          return (
            cancelled ?? (yield* new BadRequest({ reason: "The run has ended: only a running one can be cancelled" }))
          )
        }),

        replay: (text, build = "same") => Effect.flatMap(getCallable(text), (run) => replay(run, build)),

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

const mayCall = ({ permissions }: Identity, { ns, var: name, project_name }: Run): boolean =>
  [`${ns}/${name}`, `${project_name}:${ns}/${name}`].some((path) => allows(permissions, "call", path, "create"))

const readRunId = idReader(RunId)
const readEventId = idReader(EventId)

const decodeEventId = (text: string): Effect.Effect<EventId, BadRequest> => {
  const eventId = readEventId(text)
  return eventId === null ? Effect.fail(new BadRequest({ reason: "event_id must be a UUID" })) : Effect.succeed(eventId)
}
