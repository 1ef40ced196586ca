/** What a caller can ask about runs: permission first, then the store. */
import { Context, type Duration, Effect, Layer } from "effect"
import { type Caller, type Identity, requirePermission } from "../access/Caller.ts"
import { readable } from "../access/Permission.ts"
import { type BadRequest, type Forbidden, NotFound, type StoreUnavailable } from "../errors/Errors.ts"
import { EventStore } from "../events/EventStore.ts"
import { maskedLogs } from "../execution/Masking.ts"
import { RunningRuns } from "../execution/RunningRuns.ts"
import { EventId, idReader, RunId } from "../ids/Ids.ts"
import { allItems, askForLess, checkPageBytes, type Page, type PageRequest } from "../ids/Page.ts"
import { before, now as currentTime } from "../ids/Timestamp.ts"
import type { LogEntry, Run, RunStats, RunStatus, RunType } from "../runs/Run.ts"
import { type RunFilter, RunStore } from "../runs/RunStore.ts"

export interface RunQuery {
  readonly status?: RunStatus
  readonly type?: RunType
  /** Only runs that started within this time before now. */
  readonly within?: Duration.Duration
}

type Denied = Forbidden | StoreUnavailable

export class Runs extends Context.Service<
  Runs,
  {
    /**
     * Newest first. Needs `run: read`, as all of these; a credential for some projects sees their runs only.
     * `BadRequest`, as from the other lists of runs, when they are too large for one page.
     */
    readonly list: (page: PageRequest, query: RunQuery) => Effect.Effect<Page<Run>, Denied | BadRequest, Caller>
    readonly get: (id: string) => Effect.Effect<Run, Denied | NotFound, Caller>
    readonly stats: Effect.Effect<RunStats, Denied, Caller>
    /** In the order of logging; of a running run what it has logged so far, up to 2 seconds ago if another node runs it. */
    readonly logs: (id: string, page: PageRequest) => Effect.Effect<Page<LogEntry>, Denied | NotFound, Caller>
    /** All runs that the event set off, newest first. */
    readonly ofEvent: (eventId: string) => Effect.Effect<ReadonlyArray<Run>, Denied | NotFound | BadRequest, Caller>
    /** A page of them. */
    readonly pageOfEvent: (
      eventId: string,
      page: PageRequest
    ) => Effect.Effect<Page<Run>, Denied | NotFound | BadRequest, Caller>
  }
>()("@weft/core/runs/Runs") {
  static readonly layer = Layer.effect(
    Runs,
    Effect.gen(function* () {
      const store = yield* RunStore
      const events = yield* EventStore
      const running = yield* RunningRuns

      const get = Effect.fnUntraced(function* (text: string) {
        const caller = yield* requirePermission("run", [], "read")
        const runId = readRunId(text)
        if (runId === null) return yield* new NotFound({ resource: "run" })
        const run = yield* store.get(caller.env_id, runId)
        const { only } = visible(caller)
        return only === undefined || only.includes(run.project_id) || only.includes(run.project_name)
          ? run
          : yield* new NotFound({ resource: "run" })
      })

      /** How the runs of the event are listed, page by page. */
      const listOfEvent = Effect.fnUntraced(function* (text: string) {
        const caller = yield* requirePermission("run", [], "read")
        const eventId = readEventId(text)
        if (eventId === null) return yield* new NotFound({ resource: "event" })
        const event = yield* events.get(caller.env_id, eventId)
        const filter: RunFilter = { ...visible(caller), eventId: event.event_id }
        return (page: PageRequest) => store.list(caller.env_id, page, filter)
      })

      return Runs.of({
        get,

        list: Effect.fnUntraced(function* (page, { status, type, within }) {
          const caller = yield* requirePermission("run", [], "read")
          const now = yield* currentTime
          const filter: RunFilter = {
            ...visible(caller),
            ...(status === undefined ? {} : { status }),
            ...(type === undefined ? {} : { type }),
            ...(within === undefined ? {} : { since: before(now, within) })
          }
          return yield* store.list(caller.env_id, page, filter).pipe(askForLess)
        }),

        stats: Effect.gen(function* () {
          const caller = yield* requirePermission("run", [], "read")
          return yield* store.stats(caller.env_id, visible(caller).only)
        }),

        logs: Effect.fnUntraced(function* (text, page) {
          const run = yield* get(text)
          // Also of a cancelled run, until its code has stopped.
          const logged = running.logged(run.run_id)
          if (logged === undefined) return yield* store.logs(run.env_id, run.run_id, page)
          const entries = yield* maskedLogs(logged.logs, logged.secrets)
          return { items: entries.slice(page.offset, page.offset + page.limit), total: entries.length }
        }),

        ofEvent: (text) => Effect.flatMap(listOfEvent(text), allWithinPage).pipe(askForLess),

        pageOfEvent: (text, page) => Effect.flatMap(listOfEvent(text), (list) => list(page)).pipe(askForLess)
      })
    })
  )
}

/** The runs of all pages, as long as one page could have them. */
const allWithinPage = <E>(list: (page: PageRequest) => Effect.Effect<Page<Run>, E>) => {
  let bytes = 0
  const bounded = (page: PageRequest) =>
    Effect.tap(list(page), ({ items }) => {
      bytes += items.reduce((sum, { result }) => sum + (result?.length ?? 0), 0)
      return checkPageBytes(bytes)
    })
  return allItems(bounded)
}

const readRunId = idReader(RunId)
const readEventId = idReader(EventId)

const visible = (caller: Identity): { readonly only?: ReadonlyArray<string> } => {
  const projects = readable(caller.permissions, "run", "read")
  return projects === "all" ? {} : { only: projects }
}
