/** Operations on many runs for callers: cancels, replays or redrives all that match a filter, in the background. */
import { Cache, Context, type Duration, Effect, Layer } from "effect"
import { BadRequest, type Forbidden, NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import { EventId, freshIds, idReader, OperationId, RunId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { isStorable } from "../../foundation/StorableText.ts"
import { before, now as currentTime } from "../../foundation/time/Timestamp.ts"
import { makeEntries, toActor } from "../../resources/audit/AuditFacts.ts"
import { AuditStore } from "../../resources/audit/AuditStore.ts"
import { CurrentOrigin } from "../../resources/audit/Origin.ts"
import { type Caller, type Identity, requirePermission } from "../../tenants/access/Caller.ts"
import { readable } from "../../tenants/access/Permission.ts"
import { isRequestKey } from "../events/prepareEvent.ts"
import type {
  Operation,
  OperationFilter,
  OperationKind,
  OperationOptions,
  OperationRef,
  OperationState,
  StoredOperation
} from "../runs/Operation.ts"
import { type OperationSelection, OperationStore } from "../runs/OperationStore.ts"
import { checkDeliveryQuery, type DeliveryQuery } from "./DeliveryQuery.ts"
import { OperationRunner } from "./OperationRunner.ts"

/** As `OperationFilter`, with a time before now. */
export interface OperationQuery extends Omit<OperationFilter, "event_id" | "event_type" | "since"> {
  /** Only runs of this event. */
  readonly eventId?: string
  readonly eventType?: string
  /** Only runs that started, or letters that are dead, within this time before now. */
  readonly within?: Duration.Duration
}

export interface NewOperation {
  readonly kind: OperationKind
  /** Selects the runs. A replay needs `status`; a cancellation selects running runs only, a redrive dead letters only. */
  readonly filter?: OperationQuery
  readonly options?: OperationOptions
  /** Requests with the same key are one operation, as long as it is stored. */
  readonly idempotencyKey?: string
}

/** Maximum operations of an environment that have not ended. One of them executes at a time. */
const openMax = 20

/** Maximum of `rate`, in runs per second. */
const rateMax = 10_000

/** Time for which a read by `refresh` is shared, in milliseconds, and the maximum operations of which reads are kept. */
const refreshMs = 250
const followedMax = 1_000

/** Maximum characters of `filter.error`. */
const errorLengthMax = 200

type ReadError = Forbidden | StoreUnavailable

export class Operations extends Context.Service<
  Operations,
  {
    /**
     * Begins to cancel, replay or redrive the selected runs that began before now and whose functions the caller may call. Its
     * effects on a run are those of `RunControl` and `DeadLetters`. Of an environment, one operation executes at a time, in the
     * order of their creation. A replay skips runs without an event, and runs whose delivery has a later attempt. Adds an entry to the audit
     * log. Requires `call: create` on the functions, as all methods here.
     */
    readonly create: (input: NewOperation) => Effect.Effect<Operation, ReadError | BadRequest, Caller>
    /** Returns the number of runs that the operation would select now. */
    readonly preview: (input: NewOperation) => Effect.Effect<number, ReadError | BadRequest, Caller>
    /** Lists operations, newest first. A credential for some functions sees only its own. */
    readonly list: (page: PageRequest, state?: OperationState) => Effect.Effect<Page<Operation>, ReadError, Caller>
    /** Fails with `NotFound` if the caller may not call all functions of the operation, and has not created it. */
    readonly get: (id: string) => Effect.Effect<Operation, ReadError | NotFound, Caller>
    /** Reads an operation again that `get` returned. Calls within a quarter of a second share a read. */
    readonly refresh: (operation: Operation) => Effect.Effect<Operation, NotFound | StoreUnavailable>
    /**
     * Ends an operation. Its effects stay: cancelled runs, and started replays. Fails with `BadRequest`
     * if it has ended.
     */
    readonly cancel: (id: string) => Effect.Effect<Operation, ReadError | NotFound | BadRequest, Caller>
  }
>()("@weft/core/runtime/control/Operations") {
  static readonly layer = Layer.effect(
    Operations,
    Effect.gen(function* () {
      const store = yield* OperationStore
      const audit = yield* AuditStore
      const entries = yield* makeEntries
      const fresh = yield* freshIds
      const runner = yield* OperationRunner
      const latest = yield* Cache.makeWith(
        ({ env_id, operation_id }: OperationRef) => store.get(env_id, operation_id),
        {
          capacity: followedMax,
          timeToLive: () => refreshMs
        }
      )

      const select = Effect.fnUntraced(function* (input: NewOperation) {
        const { env_id, permissions } = yield* requirePermission("call", [], "create")
        const filter = yield* toFilter(input)
        const functions = readable(permissions, "call", "create")
        const selection: OperationSelection = {
          env_id,
          kind: input.kind,
          filter,
          functions: functions === "all" ? null : functions,
          last_run_id: yield* fresh(RunId)
        }
        return selection
      })

      const get = Effect.fnUntraced(function* (text: string) {
        const caller = yield* requirePermission("call", [], "create")
        const id = readOperationId(text)
        if (id === null) return yield* new NotFound({ resource: "operation" })
        const operation = yield* store.get(caller.env_id, id)
        return mayCallAll(caller, operation) || operation.created_by === (yield* formatActor(caller))
          ? operation
          : yield* new NotFound({ resource: "operation" })
      })

      return Operations.of({
        create: Effect.fnUntraced(function* (input) {
          const selection = yield* select(input)
          if ((yield* store.countOpen(selection.env_id)) >= openMax) return yield* tooMany
          const caller = yield* requirePermission("call", [], "create")
          const { kind, options = {} } = input
          const operation: StoredOperation = {
            ...selection,
            ...begun,
            operation_id: yield* fresh(OperationId),
            ...{ kind, options },
            total: yield* store.count(selection),
            created_at: yield* currentTime,
            created_by: yield* formatActor(caller)
          }
          const key = input.idempotencyKey
          const toEntry = yield* entries
          const stored = yield* audit.within(
            store.insert(operation, key === undefined ? null : `${operation.created_by} ${key}`),
            ({ operation_id, filter, total }) =>
              operation_id === operation.operation_id
                ? toEntry({
                    action: "operation.create",
                    object_id: operation_id,
                    details: { kind, ...filter, ...options, total }
                  })
                : null
          )
          runner.wake()
          return stored
        }, Effect.uninterruptible),

        preview: (input) => Effect.flatMap(select(input), store.count),

        list: Effect.fnUntraced(function* (page, state) {
          const caller = yield* requirePermission("call", [], "create")
          return yield* store.list(caller.env_id, page, {
            ...(state === undefined ? {} : { state }),
            ...(seesAll(caller) ? {} : { created_by: yield* formatActor(caller) })
          })
        }),

        get,

        refresh: ({ env_id, operation_id }) => Cache.get(latest, { env_id, operation_id }),

        cancel: Effect.fnUntraced(function* (text) {
          const operation = yield* get(text)
          const toEntry = yield* entries
          const { kind, operation_id } = operation
          const isEnded = yield* audit.within(store.cancel(operation, yield* currentTime), (isEnded) =>
            isEnded ? toEntry({ action: "operation.cancel", object_id: operation_id, details: { kind } }) : null
          )
          if (!isEnded) return yield* new BadRequest({ reason: "The operation has ended and cannot be cancelled" })
          return yield* store.get(operation.env_id, operation_id)
        }, Effect.uninterruptible)
      })
    })
  )
}

/** Fields of a new operation. */
const begun = {
  state: "pending",
  ...{ done: 0, skipped: 0, failed: 0, failures: [], waiting: null, error: null },
  ...{ started_at: null, ended_at: null, after_run_id: null, fence: 0 }
} as const

const toFilter = Effect.fnUntraced(function* (input: NewOperation) {
  const { kind, filter = {} } = input
  const { status, type, waiting, project, fn, error, eventId, eventType, within } = filter
  yield* checkDeliveryQuery(toDeliveryQuery(filter))
  const refusal = refusalOf(input)
  if (refusal !== null) return yield* refuse(refusal)
  const event_id = eventId === undefined ? undefined : readEventId(eventId)
  if (event_id === null) return yield* refuse("filter.event_id must be a UUID")
  const selected: OperationFilter = {
    ...(kind === "cancel" ? { status: "running" } : status === undefined ? {} : { status }),
    ...(type === undefined ? {} : { type }),
    ...(waiting === undefined ? {} : { waiting }),
    ...(project === undefined ? {} : { project }),
    ...(fn === undefined ? {} : { fn }),
    ...(error === undefined ? {} : { error }),
    ...(event_id === undefined ? {} : { event_id }),
    ...(eventType === undefined ? {} : { event_type: eventType }),
    ...(within === undefined ? {} : { since: before(yield* currentTime, within) })
  }
  return selected
})

const toDeliveryQuery = ({ project, fn, eventType }: OperationQuery): DeliveryQuery => ({
  ...(project === undefined ? {} : { project }),
  ...(fn === undefined ? {} : { fn }),
  ...(eventType === undefined ? {} : { eventType })
})

/** Returns the reason why a request is invalid; null if it is valid. */
const refusalOf = ({ kind, filter = {}, options = {}, idempotencyKey: key }: NewOperation): string | null => {
  const { status, waiting, error } = filter
  const { rate } = options
  if (kind === "cancel" && status !== undefined && status !== "running")
    return "filter.status must be running, or absent: only running runs can be cancelled"
  if (kind === "replay" && status === undefined) return "filter.status is required for a replay, for example failed"
  if (kind === "redrive" && (status !== undefined || waiting !== undefined))
    return "filter.status and filter.waiting are not for a redrive, which selects dead letters"
  if (kind === "cancel" && options.build !== undefined) return "options.build is only for replays and redrives"
  if (error !== undefined && kind !== "redrive" && status !== "failed") return "filter.error needs filter.status failed"
  if (error !== undefined && (error.length === 0 || error.length > errorLengthMax || !isStorable(error)))
    return `filter.error must have 1 to ${errorLengthMax} characters of valid Unicode, without U+0000`
  if (key !== undefined && !isRequestKey(key)) return "Idempotency-Key must be 1 to 255 visible ASCII characters"
  return rate === undefined || (Number.isInteger(rate) && rate >= 1 && rate <= rateMax)
    ? null
    : `options.rate must be an integer from 1 to ${rateMax} runs per second`
}

const refuse = (reason: string) => Effect.fail(new BadRequest({ reason }))

const tooMany = new BadRequest({
  reason: `The environment has ${openMax} operations that have not ended, the maximum: wait for some, or cancel them`
})

/** True if the caller may call all functions, and so may see the operations of others. */
const seesAll = ({ permissions }: Identity): boolean => readable(permissions, "call", "create") === "all"

/** True if the caller may call every function that the operation selects. */
const mayCallAll = ({ permissions }: Identity, { filter }: StoredOperation): boolean => {
  const functions = readable(permissions, "call", "create")
  return functions === "all" || (filter.fn !== undefined && functions.includes(filter.fn))
}

const formatActor = (caller: Identity): Effect.Effect<string> =>
  Effect.map(CurrentOrigin, ({ isAdmin }) => {
    const { actor_type, actor_id } = toActor(caller, { isAdmin })
    return actor_id === null ? actor_type : `${actor_type} ${actor_id}`
  })

const readOperationId = idReader(OperationId)
const readEventId = idReader(EventId)
