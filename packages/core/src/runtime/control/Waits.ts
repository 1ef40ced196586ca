/** Answers callers why deliveries, runs and schedules wait. Checks permission first. */
import { Context, Effect, Layer } from "effect"
import { type BadRequest, type Forbidden, NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import { DeliveryId, type EnvId, EventId, idReader, RunId, ScheduleId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { ScheduleStore } from "../../resources/schedules/ScheduleStore.ts"
import { type Caller, type Identity, requirePermission } from "../../tenants/access/Caller.ts"
import { readable } from "../../tenants/access/Permission.ts"
import { EventStore } from "../events/EventStore.ts"
import { DeliveryStore } from "../runs/DeliveryStore.ts"
import { findPause } from "../runs/Pause.ts"
import { PauseStore } from "../runs/PauseStore.ts"
import type { Run } from "../runs/Run.ts"
import { RunStore } from "../runs/RunStore.ts"
import {
  explainDelivery,
  explainSchedule,
  explainSuspension,
  type PendingDelivery,
  type PendingFilter,
  type Wait
} from "../runs/WaitReason.ts"
import { checkDeliveryQuery, type DeliveryQuery, toPendingFilter } from "./DeliveryQuery.ts"

/** A pending delivery, and why it waits. */
export interface WaitingDelivery extends PendingDelivery {
  readonly waiting: Wait
}

/** Something that waits. */
export interface WaitingItem {
  readonly object: "delivery" | "run" | "schedule"
  readonly id: string
  readonly project_id: string
  readonly ns: string
  readonly var: string
  readonly waiting: Wait
}

/** Maximum items of `explain`: the deliveries of one event. */
const itemsMax = 100

/** Maximum deliveries that the total of a list counts. A page behind them counts one delivery beyond its end. */
const countedMax = 10_000

type ReadError = Forbidden | StoreUnavailable

export class Waits extends Context.Service<
  Waits,
  {
    /**
     * Lists pending deliveries with the reasons why they wait, in the order in which they are due. Those that a group holds
     * come last. The total counts at most 10,000 deliveries, or one beyond the end of the page. Requires `run: read`, as
     * all methods here. A credential for some projects sees only theirs.
     */
    readonly list: (
      page: PageRequest,
      query: DeliveryQuery
    ) => Effect.Effect<Page<WaitingDelivery>, ReadError | BadRequest, Caller>
    /**
     * Returns the waits of the delivery, run, event or schedule with this id; none if it does not wait. Fails with
     * `NotFound` if the caller can see nothing of that id.
     */
    readonly explain: (id: string) => Effect.Effect<ReadonlyArray<WaitingItem>, ReadError | NotFound, Caller>
  }
>()("@weft/core/runtime/control/Waits") {
  static readonly layer = Layer.effect(
    Waits,
    Effect.gen(function* () {
      const deliveries = yield* DeliveryStore
      const explainRun = yield* makeExplainRun
      const runs = yield* RunStore
      const events = yield* EventStore
      const schedules = yield* ScheduleStore
      const pauseStore = yield* PauseStore

      const list = Effect.fnUntraced(function* (caller: Identity, page: PageRequest, filter: PendingFilter) {
        const now = yield* currentTime
        const found = yield* deliveries.list(caller.env_id, page, { ...toProjectFilter(caller), ...filter })
        const pauses = found.length === 0 ? [] : yield* pauseStore.active(caller.env_id)
        return found.map((pending): WaitingDelivery => {
          const pause = findPause(pauses, { ...pending, env_id: caller.env_id })
          return { ...pending, waiting: explainDelivery(pending, now, pause) }
        })
      })

      const all = { limit: itemsMax, offset: 0 }

      const ofDelivery = (caller: Identity, deliveryId: DeliveryId) =>
        Effect.map(list(caller, all, { deliveryId }), (items) => (items.length === 0 ? null : items.map(toItem)))

      const ofRun = Effect.fnUntraced(
        function* (caller: Identity, runId: RunId) {
          const run = yield* runs.get(caller.env_id, runId)
          return maySee(caller, run) ? yield* explainRun(run) : null
        },
        Effect.catchTag("NotFound", () => Effect.succeed(null))
      )

      const ofEvent = Effect.fnUntraced(
        function* (caller: Identity, eventId: EventId) {
          yield* events.get(caller.env_id, eventId)
          return (yield* list(caller, all, { eventId })).map(toItem)
        },
        Effect.catchTag("NotFound", () => Effect.succeed(null))
      )

      const ofSchedule = Effect.fnUntraced(
        function* (caller: Identity, id: ScheduleId) {
          const schedule = yield* schedules.get(caller.env_id, id)
          // A schedule has no name of its project, so only permissions on its id, or on all projects, cover it.
          if (!maySee(caller, { project_id: schedule.project_id, project_name: schedule.project_id })) return null
          const { project_id, ns, var: name } = schedule
          const pause = findPause(yield* pauseStore.active(caller.env_id), schedule)
          const waiting = explainSchedule(schedule, yield* currentTime, pause)
          return [{ object: "schedule" as const, id: schedule.schedule_id, project_id, ns, var: name, waiting }]
        },
        Effect.catchTag("NotFound", () => Effect.succeed(null))
      )

      return Waits.of({
        list: Effect.fnUntraced(function* (page, query) {
          const caller = yield* requirePermission("run", [], "read")
          yield* checkDeliveryQuery(query)
          const filter = toPendingFilter(query)
          const counted = Math.max(countedMax, page.offset + page.limit + 1)
          return yield* Effect.all({
            items: list(caller, page, filter),
            total: deliveries.count(caller.env_id, { ...toProjectFilter(caller), ...filter }, counted)
          })
        }),

        explain: Effect.fnUntraced(function* (text): Effect.fn.Return<
          ReadonlyArray<WaitingItem>,
          ReadError | NotFound,
          Caller
        > {
          const caller = yield* requirePermission("run", [], "read")
          const find = <Id extends string>(
            id: Id | null,
            of: (caller: Identity, id: Id) => Effect.Effect<ReadonlyArray<WaitingItem> | null, StoreUnavailable>
          ) => (id === null ? Effect.succeed(null) : of(caller, id))
          const waiting = (yield* find(readDeliveryId(text), ofDelivery)) ?? (yield* find(readRunId(text), ofRun))
          if (waiting !== null) return waiting
          // A schedule has the id of the event that created it.
          const ofBoth = [yield* find(readEventId(text), ofEvent), yield* find(readScheduleId(text), ofSchedule)]
          const found = ofBoth.filter((items) => items !== null)
          return found.length > 0 ? found.flat() : yield* new NotFound({ resource: "delivery, run, event or schedule" })
        })
      })
    })
  )
}

/** Returns a function that explains why a run waits: it is suspended, or its node is down. */
const makeExplainRun = Effect.gen(function* () {
  const deliveries = yield* DeliveryStore

  const explain = Effect.fnUntraced(function* (
    run: Run,
    envId: EnvId
  ): Effect.fn.Return<Wait | null, StoreUnavailable> {
    if (run.status !== "running") return null
    const now = yield* currentTime
    if (run.waiting === null) {
      const since = yield* deliveries.downSince(run.node_id, now)
      return since === null ? null : { reason: "node", since, until: null, detail: run.node_id }
    }
    const [pending] = yield* deliveries.list(envId, { limit: 1, offset: 0 }, { continues: run.run_id })
    return pending === undefined ? explainSuspension(run.waiting) : explainDelivery(pending, now)
  })

  return Effect.fnUntraced(function* (run: Run) {
    const waiting = yield* explain(run, run.env_id)
    if (waiting === null) return []
    const { run_id, project_id, ns, var: name } = run
    return [{ object: "run" as const, id: run_id, project_id, ns, var: name, waiting }]
  })
})

/** A suspended run waits, not the delivery that continues it. */
const toItem = ({ delivery_id, continues, project_id, ns, var: name, waiting }: WaitingDelivery): WaitingItem => ({
  object: continues === null ? "delivery" : "run",
  id: continues ?? delivery_id,
  ...{ project_id, ns, var: name, waiting }
})

const toProjectFilter = ({ permissions }: Identity): PendingFilter => {
  const projects = readable(permissions, "run", "read")
  return projects === "all" ? {} : { only: projects }
}

const maySee = (caller: Identity, { project_id, project_name }: Pick<Run, "project_id" | "project_name">): boolean => {
  const { only } = toProjectFilter(caller)
  return only === undefined || only.includes(project_id) || only.includes(project_name)
}

const readDeliveryId = idReader(DeliveryId)
const readRunId = idReader(RunId)
const readEventId = idReader(EventId)
const readScheduleId = idReader(ScheduleId)
