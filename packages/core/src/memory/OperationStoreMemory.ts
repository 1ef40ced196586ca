/** `OperationStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound } from "../foundation/Errors.ts"
import { Timestamp } from "../foundation/time/Timestamp.ts"
import { utf8Length } from "../foundation/Utf8.ts"
import type { OperationRef, StoredOperation } from "../runtime/runs/Operation.ts"
import type { OperationStep } from "../runtime/runs/OperationStep.ts"
import { type OperationSelection, OperationStore, type OperationTarget } from "../runtime/runs/OperationStore.ts"
import type { Run } from "../runtime/runs/Run.ts"
import type { OperationProgress } from "../runtime/runs/RunControlStore.ts"
import { compareText, MemoryDatabase, toPage } from "./MemoryDatabase.ts"
import { cancelSelected } from "./RunCancellationMemory.ts"
import { isListed } from "./RunStoreMemory.ts"

type Database = MemoryDatabase["Service"]

/** End of the lease of an operation that no node holds. */
const unheld = Timestamp.make(0)

export const layer: Layer.Layer<OperationStore, never, MemoryDatabase> = Layer.effect(
  OperationStore,
  Effect.map(MemoryDatabase, (db) => {
    const { operations } = db
    const find = ({ env_id, operation_id }: OperationRef) => {
      const row = operations.get(operation_id)
      return row?.operation.env_id === env_id
        ? Effect.succeed(row)
        : Effect.fail(new NotFound({ resource: "operation" }))
    }
    const all = () => [...operations.values()].map(({ operation }) => operation)
    const open = () => all().filter(({ ended_at }) => ended_at === null)

    return OperationStore.of({
      insert: (operation, key) =>
        Effect.sync(() => {
          const used = [...operations.values()].find(
            (row) => key !== null && row.key === key && row.operation.env_id === operation.env_id
          )
          if (used !== undefined) return used.operation
          operations.set(operation.operation_id, { operation, until: unheld, key })
          return operation
        }),

      get: (env_id, operation_id) => Effect.map(find({ env_id, operation_id }), ({ operation }) => operation),

      list: (envId, page, { state, created_by }) =>
        Effect.sync(() =>
          toPage(
            all()
              .filter((operation) => operation.env_id === envId)
              .filter((operation) => state === undefined || operation.state === state)
              .filter((operation) => created_by === undefined || operation.created_by === created_by)
              .sort((a, b) => compareText(b.operation_id, a.operation_id)),
            page
          )
        ),

      countOpen: (envId) => Effect.sync(() => open().filter(({ env_id }) => env_id === envId).length),

      cancel: (ref, at) =>
        Effect.map(find(ref), ({ operation, key }) => {
          if (operation.ended_at !== null) return false
          const ended = { ...operation, state: "cancelled" as const, waiting: null, ended_at: at }
          operations.set(operation.operation_id, { operation: ended, until: unheld, key })
          return true
        }),

      acquire: (now, until) =>
        Effect.sync(() => {
          const oldest = [...Map.groupBy(open(), ({ env_id }) => env_id).values()].flatMap(
            (members) => members.toSorted((a, b) => compareText(a.operation_id, b.operation_id))[0] ?? []
          )
          const endOf = ({ operation_id }: StoredOperation) => operations.get(operation_id)?.until ?? unheld
          const [free] = oldest
            .filter((operation) => endOf(operation) < now)
            .sort((a, b) => endOf(a) - endOf(b) || compareText(a.operation_id, b.operation_id))
          if (free === undefined) return null
          const operation: StoredOperation = {
            ...free,
            state: "running",
            started_at: free.started_at ?? now,
            fence: free.fence + 1
          }
          operations.set(operation.operation_id, {
            operation,
            until,
            key: operations.get(operation.operation_id)?.key ?? null
          })
          return operation
        }),

      release: ({ operation_id, fence }) =>
        Effect.sync(() => {
          const row = operations.get(operation_id)
          if (row?.operation.fence === fence) operations.set(operation_id, { ...row, until: unheld })
        }),

      count: (selection) => Effect.sync(() => select(db, selection).length),

      targets: (selection, after, limit) =>
        Effect.sync(() =>
          select(db, selection)
            .filter(({ run_id }) => after === null || run_id > after)
            .sort((a, b) => compareText(a.run_id, b.run_id))
            .slice(0, limit)
            .map((run) => toTarget(db, run))
        ),

      countDue: (envId, now, limit) =>
        Effect.sync(() => {
          const pending = [...db.deliveries.values()].filter(({ run_id }) => run_id === null)
          const due = pending.filter(({ delivery }) => delivery.env_id === envId && delivery.due_at <= now)
          return Math.min(limit, due.length)
        }),

      forget: (before, limit) =>
        Effect.sync(() => {
          const ended = all().filter(({ ended_at }) => ended_at !== null && ended_at < before)
          const removed = ended.slice(0, limit)
          for (const { operation_id } of removed) operations.delete(operation_id)
          return removed.length
        })
    })
  })
)

/** Stores a batch of an operation with its progress. */
export const advance = (db: Database, step: OperationStep): OperationProgress | null => {
  const { env_id, operation_id, fence, after_run_id } = step.operation
  const row = db.operations.get(operation_id)
  if (row?.operation.env_id !== env_id || row.operation.state !== "running") return null
  const { operation: known, key } = row
  if (known.fence !== fence || known.after_run_id !== after_run_id) return null
  const { cancels, deliveries, redrives, at, end } = step
  const cancelled = cancelSelected(db, env_id, { runIds: cancels }, at, cancels.length)
  const started = redrives.filter(({ runId }) => db.runs.get(runId)?.env_id === env_id && db.deadLetters.delete(runId))
  for (const delivery of [...deliveries, ...started.map((each) => each.delivery)])
    db.deliveries.set(delivery.delivery_id, { delivery, run_id: null })
  const operation: StoredOperation = {
    ...known,
    after_run_id: step.next,
    done: known.done + deliveries.length + started.length + cancelled.length,
    skipped: known.skipped + step.skipped + redrives.length - started.length + cancels.length - cancelled.length,
    failed: known.failed + step.failed,
    failures: step.failures,
    waiting: step.waiting,
    ...(end === null ? {} : { ...end, ended_at: at })
  }
  db.operations.set(operation_id, { operation, until: end === null ? step.until : unheld, key })
  return { operation, cancelled }
}

const select = (db: Database, selection: OperationSelection): ReadonlyArray<Run> =>
  [...db.runs.values()].filter((run) => {
    const { env_id, kind, filter, functions, last_run_id } = selection
    const { project, fn, event_id, event_type, since, ...listed } = filter
    const begin = kind === "redrive" ? db.deadLetters.get(run.run_id) : run.start_time
    const names = [`${run.ns}/${run.var}`, `${run.project_name}:${run.ns}/${run.var}`]
    return (
      run.env_id === env_id &&
      run.run_id <= last_run_id &&
      isListed(run, event_id === undefined ? listed : { ...listed, eventId: event_id }) &&
      begin !== undefined &&
      (since === undefined || begin >= since) &&
      (event_type === undefined || typeOf(db, run) === event_type) &&
      (project === undefined || run.project_id === project || run.project_name === project) &&
      (fn === undefined || names.includes(fn)) &&
      (functions === null || names.some((name) => functions.includes(name)))
    )
  })

const typeOf = (db: Database, { event_id }: Run): string | undefined =>
  event_id === null ? undefined : db.events.get(event_id)?.event_type

const toTarget = (db: Database, run: Run): OperationTarget => {
  const { env_id, run_id, project_id, build_id, ns, var: name, event_id, activations } = run
  const event = event_id === null ? undefined : db.events.get(event_id)
  return {
    ...{ env_id, run_id, project_id, build_id, ns, var: name, event_id, activations },
    is_retried: isRetried(db, run),
    event_bytes: utf8Length(event?.event_data ?? "")
  }
}

/** True if the delivery of the run has a later attempt, or is pending again. A lost run has one with the same number. */
const isRetried = (db: Database, run: Run): boolean => {
  const first = run.attempt === 1 ? run.run_id : run.origin_run_id
  const isLater = (other: Run) =>
    other.env_id === run.env_id &&
    other.event_id === run.event_id &&
    other.run_id > run.run_id &&
    other.project_id === run.project_id &&
    other.ns === run.ns &&
    other.var === run.var &&
    ((other.attempt > run.attempt && other.origin_run_id === first) ||
      (other.attempt === run.attempt && other.run_type === run.run_type && other.origin_run_id === run.origin_run_id))
  return (
    run.event_id !== null &&
    ([...db.runs.values()].some(isLater) ||
      [...db.deliveries.values()].some(
        ({ delivery, run_id }) => run_id === null && delivery.env_id === run.env_id && delivery.first_run_id === first
      ))
  )
}
