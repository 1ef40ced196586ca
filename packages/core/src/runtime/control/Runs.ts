/** Reads runs for callers. Checks permission first. */
import { Context, type Duration, Effect, Layer } from "effect"
import { type BadRequest, type Forbidden, NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import { EventId, idReader, RunId } from "../../foundation/Ids.ts"
import { allItems, checkWholeBytes, type Page, type PageRequest } from "../../foundation/Page.ts"
import { before, now as currentTime } from "../../foundation/time/Timestamp.ts"
import { type Caller, type Identity, requirePermission } from "../../tenants/access/Caller.ts"
import { readable } from "../../tenants/access/Permission.ts"
import { EventStore } from "../events/EventStore.ts"
import { ActiveRuns } from "../execution/ActiveRuns.ts"
import { maskLog } from "../execution/maskLog.ts"
import type { LogEntry, Run, RunStats } from "../runs/Run.ts"
import { countedRunsMax, type RunActivity, toActivity } from "../runs/RunActivity.ts"
import { type RunFilter, RunStore } from "../runs/RunStore.ts"
import { hasSecretResult, type OpenWait, type StepRecord } from "../runs/Workflow.ts"
import { WorkflowStore } from "../runs/WorkflowStore.ts"
import { type RunQuery, toRunFilter } from "./RunQuery.ts"

/** A page of the recorded results of a durable run, and what it waits for. */
export interface RunSteps extends Page<StepRecord> {
  /** Open waits, in the order in which the function began them; at most 100. */
  readonly waits: ReadonlyArray<OpenWait>
}

/** Maximum waits that are listed with steps. */
const waitsMax = 100

type RunReadError = Forbidden | StoreUnavailable

export class Runs extends Context.Service<
  Runs,
  {
    /**
     * Lists runs, newest first. Requires `run: read`, as all methods here. A credential for some projects sees only their
     * runs. A page of large results may have fewer items than requested. With `fn`, `error`, `before`, or `project` and
     * `within`, `total` counts at most 10,000 runs. Fails with `BadRequest` for an invalid query.
     */
    readonly list: (page: PageRequest, query: RunQuery) => Effect.Effect<Page<Run>, RunReadError | BadRequest, Caller>
    readonly get: (id: string) => Effect.Effect<Run, RunReadError | NotFound, Caller>
    /**
     * Lists the recorded results of a durable run in their order; none for other runs. A page of large results may have
     * fewer items than requested.
     */
    readonly steps: (id: string, page: PageRequest) => Effect.Effect<RunSteps, RunReadError | NotFound, Caller>
    readonly stats: Effect.Effect<RunStats, RunReadError, Caller>
    /** Counts the runs that started within this time before now, of more than 5,000 the newest. One query. */
    readonly activity: (within: Duration.Duration) => Effect.Effect<RunActivity, RunReadError, Caller>
    /** Lists log entries in order. Those of a running run on another node may be up to 2 s old. */
    readonly logs: (id: string, page: PageRequest) => Effect.Effect<Page<LogEntry>, RunReadError | NotFound, Caller>
    /** Returns all runs of the event, newest first. Fails with `BadRequest` if their results have over 32 MiB. */
    readonly ofEvent: (
      eventId: string
    ) => Effect.Effect<ReadonlyArray<Run>, RunReadError | NotFound | BadRequest, Caller>
    /** Lists runs of the event, newest first. */
    readonly pageOfEvent: (
      eventId: string,
      page: PageRequest
    ) => Effect.Effect<Page<Run>, RunReadError | NotFound, Caller>
  }
>()("@weft/core/runtime/control/Runs") {
  static readonly layer = Layer.effect(
    Runs,
    Effect.gen(function* () {
      const store = yield* RunStore
      const events = yield* EventStore
      const activeRuns = yield* ActiveRuns
      const workflows = yield* WorkflowStore

      const get = Effect.fnUntraced(function* (text: string) {
        const caller = yield* requirePermission("run", [], "read")
        const runId = readRunId(text)
        if (runId === null) return yield* new NotFound({ resource: "run" })
        const run = yield* store.get(caller.env_id, runId)
        const { only } = toProjectFilter(caller)
        return only === undefined || only.includes(run.project_id) || only.includes(run.project_name)
          ? run
          : yield* new NotFound({ resource: "run" })
      })

      /** Returns a function that lists the runs of the event. */
      const makeListOfEvent = Effect.fnUntraced(function* (text: string) {
        const caller = yield* requirePermission("run", [], "read")
        const eventId = readEventId(text)
        if (eventId === null) return yield* new NotFound({ resource: "event" })
        const event = yield* events.get(caller.env_id, eventId)
        const filter: RunFilter = { ...toProjectFilter(caller), eventId: event.event_id, inBatches: true }
        return (page: PageRequest) => store.list(caller.env_id, page, filter)
      })

      return Runs.of({
        get,

        steps: Effect.fnUntraced(function* (text, page) {
          const run = yield* get(text)
          if (run.activations === null) return { items: [], total: 0, waits: [] }
          const steps = yield* workflows.steps(run, page)
          const items = steps.items.map((step) =>
            hasSecretResult(step.kind) && step.ok ? { ...step, result: null } : step
          )
          return { ...steps, items, waits: yield* workflows.openWaits(run, waitsMax) }
        }),

        list: Effect.fnUntraced(function* (page, query) {
          const caller = yield* requirePermission("run", [], "read")
          const filter = yield* toRunFilter(query, yield* currentTime)
          return yield* store.list(caller.env_id, page, { ...filter, ...toProjectFilter(caller) })
        }),

        stats: Effect.gen(function* () {
          const caller = yield* requirePermission("run", [], "read")
          return yield* store.stats(caller.env_id, toProjectFilter(caller).only)
        }),

        activity: Effect.fnUntraced(function* (within) {
          const caller = yield* requirePermission("run", [], "read")
          const since = before(yield* currentTime, within)
          const { only } = toProjectFilter(caller)
          const found = yield* store.recent(caller.env_id, since, countedRunsMax + 1, only)
          return toActivity(found.slice(0, countedRunsMax), since, found.length <= countedRunsMax)
        }),

        logs: Effect.fnUntraced(function* (text, page) {
          const run = yield* get(text)
          // Includes a cancelled run whose code has not stopped yet.
          const logged = activeRuns.logged(run.run_id)
          if (logged === undefined) return yield* store.logs(run.env_id, run.run_id, page)
          const entries = yield* maskLog(logged.logs, logged.secrets)
          return { items: entries.slice(page.offset, page.offset + page.limit), total: entries.length }
        }),

        ofEvent: (text) => Effect.flatMap(makeListOfEvent(text), listAll),

        pageOfEvent: (text, page) => Effect.flatMap(makeListOfEvent(text), (list) => list(page))
      })
    })
  )
}

/** Returns the runs of all pages. Fails if together they are too large. */
const listAll = <E>(list: (page: PageRequest) => Effect.Effect<Page<Run>, E>) => {
  let bytes = 0
  const bounded = (page: PageRequest) =>
    Effect.tap(list(page), ({ items }) => {
      bytes += items.reduce((sum, { result }) => sum + (result?.length ?? 0), 0)
      return checkWholeBytes(bytes)
    })
  return allItems(bounded)
}

const readRunId = idReader(RunId)
const readEventId = idReader(EventId)

const toProjectFilter = (caller: Identity): { readonly only?: ReadonlyArray<string> } => {
  const projects = readable(caller.permissions, "run", "read")
  return projects === "all" ? {} : { only: projects }
}
