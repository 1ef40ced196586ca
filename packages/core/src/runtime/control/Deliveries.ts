/** Cancels pending deliveries for callers: the events are stored, but their handlers do not run. */
import { Context, Effect, Layer } from "effect"
import { BadRequest, type Forbidden, type StoreUnavailable } from "../../foundation/Errors.ts"
import { DeliveryId, freshIds } from "../../foundation/Ids.ts"
import { isStorable } from "../../foundation/StorableText.ts"
import { makeEntries } from "../../resources/audit/AuditFacts.ts"
import { AuditStore } from "../../resources/audit/AuditStore.ts"
import { type Caller, requirePermission } from "../../tenants/access/Caller.ts"
import { readable } from "../../tenants/access/Permission.ts"
import type { DeliverySelection } from "../runs/DeliverySelection.ts"
import { makeDiscardPass } from "./discardDeliveries.ts"

/** Selects pending deliveries; all of them without any field. */
export interface DeliveryQuery {
  /** Id of a project, or its name when the event was published. It may have been removed. */
  readonly project?: string
  /** A function: `ns/var`, or `project:ns/var`. */
  readonly fn?: string
  readonly eventType?: string
}

/** Maximum passes of one call. Each finds what other transactions were changing in the previous one. */
const passesMax = 10

export class Deliveries extends Context.Service<
  Deliveries,
  {
    /**
     * Cancels the pending deliveries that the query selects and whose functions the caller may call. These are due or due
     * later, wait for a retry, or wait for their concurrency group. Running runs continue, and may still be retried.
     * Deliveries that are published during the call stay. Returns the number of cancelled deliveries, and adds it to the
     * audit log. Requires `call: create` on the functions.
     */
    readonly cancel: (query: DeliveryQuery) => Effect.Effect<number, Forbidden | BadRequest | StoreUnavailable, Caller>
  }
>()("@weft/core/runtime/control/Deliveries") {
  static readonly layer = Layer.effect(
    Deliveries,
    Effect.gen(function* () {
      const audit = yield* AuditStore
      const entries = yield* makeEntries
      const discard = yield* makeDiscardPass
      const fresh = yield* freshIds

      return Deliveries.of({
        cancel: Effect.fnUntraced(function* (query) {
          const { env_id, permissions } = yield* requirePermission("call", [], "create")
          yield* check(query)
          const allowed = readable(permissions, "call", "create")
          const which: DeliverySelection = {
            ...toSelection(query, allowed === "all" ? [] : [allowed]),
            before: yield* fresh(DeliveryId)
          }
          let cancelled = 0
          const passes = Effect.gen(function* () {
            for (let pass = 0; pass < passesMax; pass++) {
              const former = cancelled
              yield* discard(env_id, which, (count) => {
                cancelled += count
              })
              if (cancelled === former) return
            }
          })
          // The entry follows in a separate transaction, also for a part of the deliveries.
          const record = Effect.flatMap(entries, (toEntry) =>
            audit.append([toEntry({ action: "deliveries.cancel", details: { ...query, cancelled } })])
          )
          yield* Effect.onError(passes, () => Effect.ignore(record, { log: "Warn" }))
          yield* Effect.uninterruptible(record)
          return cancelled
        })
      })
    })
  )
}

const toSelection = (
  { project, fn, eventType }: DeliveryQuery,
  functions: ReadonlyArray<ReadonlyArray<string>>
): DeliverySelection => ({
  functions: fn === undefined ? functions : [...functions, [fn]],
  ...(project === undefined ? {} : { project }),
  ...(eventType === undefined ? {} : { eventType })
})

/** Maximum characters of a filter: those of the longest reference of a function. */
const filterLengthMax = 512

const check = (query: DeliveryQuery): Effect.Effect<void, BadRequest> => {
  for (const [field, text] of Object.entries({ project: query.project, fn: query.fn, event_type: query.eventType })) {
    if (text !== undefined && (text.length === 0 || text.length > filterLengthMax || !isStorable(text)))
      return refuse(`${field} must have 1 to ${filterLengthMax} characters of valid Unicode, without U+0000`)
  }
  if (query.fn !== undefined && !referenceForm.test(query.fn))
    return refuse("fn must be a function reference: ns/var or project:ns/var")
  return Effect.void
}

const referenceForm = /^(?:[^\s:/]+:)?[\w$]+\/[\w$]+$/

const refuse = (reason: string) => Effect.fail(new BadRequest({ reason }))
