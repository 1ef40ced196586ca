/** `RunStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound } from "../foundation/Errors.ts"
import type { EnvId, EventId } from "../foundation/Ids.ts"
import { readErrorText, toErrorPattern } from "../runtime/runs/ErrorText.ts"
import type { Run, RunStatus } from "../runtime/runs/Run.ts"
import { type RunFilter, RunStore } from "../runtime/runs/RunStore.ts"
import { parseWaiting, type WaitingFor } from "../runtime/runs/Workflow.ts"
import { compareText, MemoryDatabase, toBoundedPage, toPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<RunStore, never, MemoryDatabase> = Layer.effect(
  RunStore,
  Effect.gen(function* () {
    const { runs, logs, deliveries } = yield* MemoryDatabase

    const matching = (envId: EnvId, filter: RunFilter): ReadonlyArray<Run> =>
      [...runs.values()].filter((run) => run.env_id === envId && isListed(run, filter))

    return RunStore.of({
      get: (envId, id) =>
        Effect.suspend(() => {
          const run = runs.get(id)
          return run === undefined || run.env_id !== envId
            ? Effect.fail(new NotFound({ resource: "run" }))
            : Effect.succeed(run)
        }),

      list: (envId, page, filter) =>
        Effect.sync(() =>
          toBoundedPage(
            [...matching(envId, filter)].sort((a, b) => compareText(b.run_id, a.run_id)),
            page,
            (run) => run.result
          )
        ),

      recent: (envId, since, limit, only) =>
        Effect.sync(() =>
          [...matching(envId, { since, ...(only === undefined ? {} : { only }) })]
            .sort((a, b) => compareText(b.run_id, a.run_id))
            .slice(0, limit)
            .map(({ run_id, project_id, project_name, ns, var: name, status, start_time, stop_time }) => ({
              ...{ run_id, project_id, project_name, ns },
              var: name,
              ...{ status, start_time, stop_time }
            }))
        ),

      replays: ({ env_id, event_id, run_id }, limit) =>
        Effect.sync(() =>
          [...runs.values()]
            .filter((run) => run.env_id === env_id && run.event_id !== null && run.event_id === event_id)
            .filter((run) => run.origin_run_id === run_id && run.run_type === "run" && run.attempt === 1)
            .map((run) => run.run_id)
            .sort((a, b) => compareText(b, a))
            .slice(0, limit)
        ),

      stats: (envId, only) =>
        Effect.sync(() => {
          const counted = matching(envId, only === undefined ? {} : { only })
          const count = (status: RunStatus) => counted.filter((run) => run.status === status).length
          return {
            total_runs: counted.length,
            running: count("running"),
            succeeded: count("succeeded"),
            failed: count("failed"),
            cancelled: count("cancelled")
          }
        }),

      waiting: (limit) =>
        Effect.sync(() => Math.min(limit, [...deliveries.values()].filter((row) => row.run_id === null).length)),

      logs: (envId, id, page) =>
        Effect.sync(() => toPage(runs.get(id)?.env_id === envId ? (logs.get(id) ?? []) : [], page))
    })
  })
)

/** True if the filter selects the run of its environment. */
export const isListed = (run: Run, filter: RunFilter): boolean => {
  const { status, type, since, eventId, inBatches, waiting, only } = filter
  return (
    (status === undefined || run.status === status) &&
    (type === undefined || run.run_type === type) &&
    (since === undefined || run.start_time >= since) &&
    (eventId === undefined || run.event_id === eventId || (inBatches === true && hasEvent(run, eventId))) &&
    (waiting === undefined || isWaiting(run, waiting)) &&
    (only === undefined || only.includes(run.project_id) || only.includes(run.project_name)) &&
    isSearched(run, filter)
  )
}

const hasEvent = ({ event_ids }: Run, eventId: EventId): boolean => event_ids?.includes(`"${eventId}"`) === true

const isSearched = (run: Run, { project, fn, error, before }: RunFilter): boolean =>
  (project === undefined || run.project_id === project || run.project_name === project) &&
  (fn === undefined || (run.ns === fn.ns && run.var === fn.var)) &&
  (error === undefined || (run.status === "failed" && hasErrorText(run.result, error))) &&
  (before === undefined || run.run_id < before)

const hasErrorText = (result: string | null, error: string): boolean =>
  result !== null && readErrorText(result).includes(toErrorPattern(error))

const isWaiting = ({ status, waiting }: Run, reason: WaitingFor | "any"): boolean =>
  status === "running" && waiting !== null && (reason === "any" || parseWaiting(waiting).for === reason)
