/** Cancels pending deliveries for callers: the events are stored, but their handlers do not run. */
import { Context, Effect, Layer } from "effect"
import type { BadRequest, Forbidden, StoreUnavailable } from "../../foundation/Errors.ts"
import { DeliveryId, freshIds } from "../../foundation/Ids.ts"
import { makeEntries } from "../../resources/audit/AuditFacts.ts"
import { AuditStore } from "../../resources/audit/AuditStore.ts"
import { type Caller, requirePermission } from "../../tenants/access/Caller.ts"
import { type PermissionMap, readable } from "../../tenants/access/Permission.ts"
import { DeliveryStore } from "../runs/DeliveryStore.ts"
import { checkDeliveryQuery, type DeliveryQuery, toPendingFilter } from "./DeliveryQuery.ts"
import { makeDiscardPass } from "./discardDeliveries.ts"

/** Maximum passes of one call. Each finds what other transactions were changing in the previous one. */
const passesMax = 10

/** Maximum deliveries that a preview counts. */
const previewMax = 100_000

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
    /** Returns the number of deliveries that `cancel` would cancel now, at most 100,000. Requires the same permission. */
    readonly preview: (query: DeliveryQuery) => Effect.Effect<number, Forbidden | BadRequest | StoreUnavailable, Caller>
  }
>()("@weft/core/runtime/control/Deliveries") {
  static readonly layer = Layer.effect(
    Deliveries,
    Effect.gen(function* () {
      const audit = yield* AuditStore
      const entries = yield* makeEntries
      const discard = yield* makeDiscardPass
      const fresh = yield* freshIds
      const store = yield* DeliveryStore

      return Deliveries.of({
        cancel: Effect.fnUntraced(function* (query) {
          const { env_id, permissions } = yield* requirePermission("call", [], "create")
          yield* checkDeliveryQuery(query)
          const which = { ...toSelection(query, permissions), before: yield* fresh(DeliveryId) }
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
        }),

        preview: Effect.fnUntraced(function* (query) {
          const { env_id, permissions } = yield* requirePermission("call", [], "create")
          yield* checkDeliveryQuery(query)
          const which = { ...toSelection(query, permissions), continues: null }
          return yield* store.count(env_id, which, previewMax)
        })
      })
    })
  )
}

/** Selects the deliveries of the query whose functions the caller may call. */
const toSelection = (query: DeliveryQuery, permissions: PermissionMap) => {
  const { functions = [], ...filter } = toPendingFilter(query)
  const allowed = readable(permissions, "call", "create")
  return { ...filter, functions: allowed === "all" ? functions : [...functions, allowed] }
}
