/** Queries and retention of the audit log. */
import { Context, Duration, Effect, Layer } from "effect"
import type { Forbidden, StoreUnavailable } from "../../foundation/Errors.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { before, now } from "../../foundation/time/Timestamp.ts"
import { Caller, requirePermission } from "../../tenants/access/Caller.ts"
import type { AuditEntry } from "./AuditEntry.ts"
import { type AuditFilter, AuditStore } from "./AuditStore.ts"

export interface AuditConfig {
  /** Retention of entries in days; 365 by default. */
  readonly days?: number
  /** Maximum entries per environment, action and outcome; 10,000 by default. The oldest are removed. */
  readonly entries?: number
}

/** Conditions of a query. */
export interface AuditQuery extends Omit<AuditFilter, "env_id" | "since"> {
  /** Maximum age of the entries. */
  readonly within?: Duration.Duration
}

export class AuditLog extends Context.Service<
  AuditLog,
  {
    /** Lists the entries of the caller's environment, newest first. Needs `key: read`. */
    readonly list: (
      query: AuditQuery,
      page: PageRequest
    ) => Effect.Effect<Page<AuditEntry>, Forbidden | StoreUnavailable, Caller>
    /** Lists the entries of all environments and those without one, newest first, for the host. */
    readonly listAll: (
      query: AuditQuery & Pick<AuditFilter, "env_id">,
      page: PageRequest
    ) => Effect.Effect<Page<AuditEntry>, StoreUnavailable>
  }
>()("@weft/core/resources/audit/AuditLog") {
  static readonly layer = (config: AuditConfig = {}): Layer.Layer<AuditLog, never, AuditStore> =>
    Layer.effect(
      AuditLog,
      Effect.gen(function* () {
        const store = yield* AuditStore
        const retention = Duration.days(config.days ?? daysDefault)
        const entries = config.entries ?? entriesDefault

        const sweep: Effect.Effect<void, StoreUnavailable> = Effect.gen(function* () {
          const limits = { before: before(yield* now, retention), keep: entries, limit: batch }
          while ((yield* store.trim(limits)) === batch);
        })
        yield* forkSupervised(
          { name: "The audit log janitor", afterFailure: Effect.void },
          Effect.andThen(Effect.sleep(every), sweep)
        )

        const toFilter = ({ within, ...filter }: AuditQuery & Pick<AuditFilter, "env_id">) =>
          Effect.map(now, (instant) => (within === undefined ? filter : { ...filter, since: before(instant, within) }))

        return AuditLog.of({
          list: Effect.fnUntraced(function* (query, page) {
            yield* requirePermission("key", "*", "read")
            const { env_id } = yield* Caller
            return yield* store.list(yield* toFilter({ ...query, env_id }), page)
          }),
          listAll: (query, page) => Effect.flatMap(toFilter(query), (filter) => store.list(filter, page))
        })
      })
    )
}

const daysDefault = 365
const entriesDefault = 10_000

/** Maximum entries removed per transaction. */
const batch = 500

const every = Duration.minutes(10)
