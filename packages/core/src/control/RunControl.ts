/** What a caller can do to runs: stop them, and run them again. */
import { Context, type Duration, Effect, Layer } from "effect"
import { type Caller, type Identity, requirePermission } from "../access/Caller.ts"
import { allows, readable } from "../access/Permission.ts"
import { Feed } from "../activity/Feed.ts"
import { Claimer } from "../deliveries/Claimer.ts"
import { BadRequest, type Forbidden, NotFound, type PlanRequired, type StoreUnavailable } from "../errors/Errors.ts"
import { RunningRuns } from "../execution/RunningRuns.ts"
import { type EnvId, EventId, idReader, RunId } from "../ids/Ids.ts"
import { before, now as currentTime } from "../ids/Timestamp.ts"
import { runActivity } from "../journal/Journal.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { Untold } from "../journal/Untold.ts"
import type { Run, RunType } from "../runs/Run.ts"
import { type CancelledRun, RunControlStore, type RunSelection } from "../runs/RunControlStore.ts"
import { RunStore } from "../runs/RunStore.ts"
import type { Called } from "./Calls.ts"
import { makeReplay, type ReplayBuild } from "./Replay.ts"

/** Which running runs are meant; all of them without any field. */
export interface CancelQuery {
  readonly type?: RunType
  /** Only runs that started within this time before now. */
  readonly within?: Duration.Duration
  readonly eventId?: string
}

/** Runs in one transaction. */
const batch = 200

type Denied = Forbidden | StoreUnavailable

export class RunControl extends Context.Service<
  RunControl,
  {
    /**
     * Ends a running run as `cancelled`, for good: no attempt follows, and what its code does until it is stopped counts
     * for nothing. `BadRequest` when it has ended. Needs `call: create` on its function.
     */
    readonly cancel: (id: string) => Effect.Effect<Run, Denied | NotFound | BadRequest, Caller>
    /**
     * Runs the function of a run again for the same event, on the same stream: a new run of type `run`, whose origin is
     * this one. The function's present rules for retries hold. `BadRequest` for runs without an event, and where the
     * build, or the function in the deployed one, is gone. Needs `call: create` on the function.
     */
    readonly replay: (
      id: string,
      build?: ReplayBuild
    ) => Effect.Effect<Called, Denied | NotFound | BadRequest | PlanRequired, Caller>
    /** As `cancel`, for all running runs that the query means and the caller may call; how many those were. */
    readonly cancelAll: (query: CancelQuery) => Effect.Effect<number, Denied | BadRequest, Caller>
  }
>()("@weft/core/runs/RunControl") {
  static readonly layer = Layer.effect(
    RunControl,
    Effect.gen(function* () {
      const runs = yield* RunStore
      const cancelNow = yield* makeCancel
      const replay = yield* makeReplay

      /** The run, if the caller may call its function. */
      const callable = Effect.fnUntraced(function* (text: string) {
        const caller = yield* requirePermission("call", [], "create")
        const runId = readRunId(text)
        if (runId === null) return yield* new NotFound({ resource: "run" })
        const run = yield* runs.get(caller.env_id, runId)
        return mayCall(caller, run) ? run : yield* new NotFound({ resource: "run" })
      })

      return RunControl.of({
        cancel: Effect.fnUntraced(function* (text) {
          const { env_id, run_id } = yield* callable(text)
          const [cancelled] = yield* cancelNow(env_id, { runId: run_id })
          return (
            cancelled ?? (yield* new BadRequest({ reason: "The run has ended: only a running one can be cancelled" }))
          )
        }),

        replay: (text, build = "same") => Effect.flatMap(callable(text), (run) => replay(run, build)),

        cancelAll: Effect.fnUntraced(function* ({ type, within, eventId }) {
          const caller = yield* requirePermission("call", [], "create")
          const until = yield* currentTime
          const functions = readable(caller.permissions, "call", "create")
          const which: RunSelection = {
            // What begins from now on, perhaps because of a cancelled run, is another matter.
            until,
            ...(type === undefined ? {} : { type }),
            ...(within === undefined ? {} : { since: before(until, within) }),
            ...(eventId === undefined ? {} : { eventId: yield* decodeEventId(eventId) }),
            ...(functions === "all" ? {} : { functions })
          }
          let count = 0
          while (true) {
            const cancelled = yield* cancelNow(caller.env_id, which)
            count += cancelled.length
            if (cancelled.length === 0) return count
          }
        })
      })
    })
  )
}

/** Cancels in the store first, then tells everybody whom it concerns. At most a batch. */
const makeCancel = Effect.gen(function* () {
  const store = yield* RunControlStore
  const untold = yield* Untold
  const running = yield* RunningRuns
  const claimer = yield* Claimer
  const feed = yield* Feed
  const { nodeId } = yield* NodeLease

  const stop = (runs: ReadonlyArray<Run>) =>
    Effect.forEach(
      Map.groupBy(runs, (run) => run.node_id),
      ([node_id, members]) => {
        const run_ids = members.map((run) => run.run_id)
        if (node_id !== nodeId) return feed.tell([{ type: "runs:cancelled", node_id, run_ids }])
        return Effect.sync(() => running.stop(run_ids))
      },
      { discard: true }
    )

  const leave = ({ run, group }: CancelledRun) => {
    if (group !== null) claimer.freed({ env_id: run.env_id, key: group })
  }

  return Effect.fnUntraced(function* (envId: EnvId, which: RunSelection) {
    const cancelled = yield* untold.during(store.cancel(envId, which, yield* currentTime, batch))
    const runs = cancelled.map(({ run }) => run)
    yield* stop(runs)
    for (const each of cancelled) leave(each)
    yield* feed.publish(runs.map(runActivity))
    return runs
  }, Effect.uninterruptible)
})

const mayCall = ({ permissions }: Identity, { ns, var: name, project_name }: Run): boolean =>
  [`${ns}/${name}`, `${project_name}:${ns}/${name}`].some((path) => allows(permissions, "call", path, "create"))

const readRunId = idReader(RunId)
const readEventId = idReader(EventId)

const decodeEventId = (text: string): Effect.Effect<EventId, BadRequest> => {
  const eventId = readEventId(text)
  return eventId === null ? Effect.fail(new BadRequest({ reason: "event_id must be a UUID" })) : Effect.succeed(eventId)
}
