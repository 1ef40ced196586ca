/** Pauses functions, projects and environments for callers, and resumes them. Checks permission first. */
import { Context, Effect, Layer } from "effect"
import { BadRequest, type Forbidden, NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import { freshIds, idReader, PauseId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { makeEntries, toActor } from "../../resources/audit/AuditFacts.ts"
import { AuditStore } from "../../resources/audit/AuditStore.ts"
import { CurrentOrigin } from "../../resources/audit/Origin.ts"
import { type Caller, type Identity, requirePermission } from "../../tenants/access/Caller.ts"
import { readable } from "../../tenants/access/Permission.ts"
import { PauseReleases } from "../dispatch/PauseReleases.ts"
import { ActivePauses } from "../journal/ActivePauses.ts"
import { describePause, formatTarget, type Pause } from "../runs/Pause.ts"
import { type PausedRuns, PauseStore } from "../runs/PauseStore.ts"
import { makeResolveTarget } from "./TargetScope.ts"

export interface NewPause {
  /** Id or name of a project. Without it, the environment is paused. */
  readonly project?: string
  /** A function of the project: `ns/var`. With `project:ns/var`, `project` is left out. */
  readonly fn?: string
  /** As `Pause.schedules`; `late` by default. */
  readonly schedules?: Pause["schedules"]
}

/** A pause, and the runs of its functions. */
export interface PauseState extends Pause {
  readonly runs: PausedRuns
}

/** Maximum active pauses of an environment: every node keeps a copy of them. */
const pausesMax = 200

type WriteError = Forbidden | NotFound | BadRequest | StoreUnavailable

export class Pauses extends Context.Service<
  Pauses,
  {
    /**
     * Pauses a function, a project or the environment. From then on it starts no run: deliveries are kept, and webhooks and
     * tools fail with `Paused`. Runs that have begun continue to their end, also durable ones. Other nodes follow when they
     * receive a message, or within 30 s. If it is paused already, changes `schedules` of that pause. Requires
     * `build: execute` on the project, or on all projects for the environment.
     */
    readonly pause: (input: NewPause) => Effect.Effect<Pause, WriteError, Caller>
    /**
     * Returns an active pause with the number of runs that have not ended: without executing runs, it has drained. Requires
     * `build: read`.
     */
    readonly get: (id: string) => Effect.Effect<PauseState, Forbidden | NotFound | StoreUnavailable, Caller>
    /** Ends a pause: its deliveries are due at once. Requires the same permission. */
    readonly resume: (id: string) => Effect.Effect<void, Forbidden | NotFound | StoreUnavailable, Caller>
    /** Lists the active pauses of the projects whose builds the caller may read, and of the environment, newest first. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<Pause>, Forbidden | StoreUnavailable, Caller>
  }
>()("@weft/core/runtime/control/Pauses") {
  static readonly layer = Layer.effect(
    Pauses,
    Effect.gen(function* () {
      const store = yield* PauseStore
      const audit = yield* AuditStore
      const entries = yield* makeEntries
      const fresh = yield* freshIds
      const active = yield* ActivePauses
      const releases = yield* PauseReleases
      const bus = yield* ClusterBus
      const resolve = yield* makeResolveTarget("build", "execute", "*")

      const find = Effect.fnUntraced(function* ({ env_id }: Identity, text: string) {
        const id = readPauseId(text)
        const found = (yield* store.active(env_id)).find(({ pause_id }) => pause_id === id)
        return found ?? (yield* new NotFound({ resource: "pause" }))
      })

      return Pauses.of({
        pause: Effect.fnUntraced(function* (input): Effect.fn.Return<Pause, WriteError, Caller> {
          const { caller, target } = yield* resolve(input)
          const now = yield* currentTime
          const pause: Pause = {
            pause_id: yield* fresh(PauseId),
            env_id: caller.env_id,
            ...target,
            schedules: input.schedules ?? "late",
            paused_at: now,
            paused_by: formatActor(caller, (yield* CurrentOrigin).isAdmin),
            resumed_at: null,
            changed_at: now
          }
          const known = yield* store.active(caller.env_id)
          if (known.length >= pausesMax && !known.some((other) => formatTarget(other) === formatTarget(pause)))
            return yield* new BadRequest({
              reason: `The environment has ${pausesMax} pauses, the maximum: resume some, or pause a whole project`
            })
          const toEntry = yield* entries
          const stored = yield* audit.within(store.pause(pause), ({ pause_id, schedules }) =>
            toEntry({
              action: "pause.create",
              object_id: pause_id,
              object_name: describePause(pause),
              details: { schedules }
            })
          )
          yield* active.changed
          return stored
        }, Effect.uninterruptible),

        get: Effect.fnUntraced(function* (text) {
          const caller = yield* requirePermission("build", [], "read")
          const pause = yield* find(caller, text)
          return maySee(caller, pause)
            ? { ...pause, runs: yield* store.countRuns(pause) }
            : yield* new NotFound({ resource: "pause" })
        }),

        resume: Effect.fnUntraced(function* (text) {
          const caller = yield* requirePermission("build", [], "execute")
          const pause = yield* find(caller, text)
          const { pause_id, project_id, project_name } = pause
          yield* requirePermission("build", project_id === null ? "*" : [project_id, project_name ?? ""], "execute")
          const toEntry = yield* entries
          const ended = yield* audit.within(store.resume(caller.env_id, pause_id, yield* currentTime), () =>
            toEntry({ action: "pause.end", object_id: pause_id, object_name: describePause(pause) })
          )
          releases.begin(ended)
          yield* active.changed
          yield* bus.sendControl([{ type: "schedules:changed" }])
        }, Effect.uninterruptible),

        list: Effect.fnUntraced(function* ({ limit, offset }) {
          const caller = yield* requirePermission("build", [], "read")
          const found = (yield* store.active(caller.env_id)).filter((pause) => maySee(caller, pause))
          return { items: found.slice(offset, offset + limit), total: found.length }
        })
      })
    })
  )
}

/** True if the caller may read builds of the paused project. A pause of the environment concerns every project. */
const maySee = ({ permissions }: Identity, { project_id, project_name }: Pause): boolean => {
  const only = readable(permissions, "build", "read")
  return only === "all" || project_id === null || only.includes(project_id) || only.includes(project_name ?? "")
}

const formatActor = (caller: Identity, isAdmin: boolean): string => {
  const { actor_type, actor_id } = toActor(caller, { isAdmin })
  return actor_id === null ? actor_type : `${actor_type} ${actor_id}`
}

const readPauseId = idReader(PauseId)
