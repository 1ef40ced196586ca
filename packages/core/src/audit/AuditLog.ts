/** The audit log as it is read, and how long it is kept. */
import { Context, Duration, Effect, Layer } from "effect"
import { Caller, requirePermission } from "../access/Caller.ts"
import type { Forbidden, StoreUnavailable } from "../errors/Errors.ts"
import { forkLasting } from "../errors/Lasting.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import { before, now } from "../ids/Timestamp.ts"
import type { AuditEntry } from "./AuditEntry.ts"
import { type AuditFilter, AuditStore } from "./AuditStore.ts"

export interface AuditConfig {
  /** How long an entry is kept, in days; default 365. */
  readonly days?: number
  /** How many of one action and outcome an environment keeps, the newest; default 10,000. */
  readonly entries?: number
}

/** What callers may ask for; `within`: only of the time until now. */
export interface AuditQuery extends Omit<AuditFilter, "env_id" | "since"> {
  readonly within?: Duration.Duration
}

export class AuditLog extends Context.Service<
  AuditLog,
  {
    /** Of the caller's environment, newest first. Needs `key: read`. */
    readonly list: (
      query: AuditQuery,
      page: PageRequest
    ) => Effect.Effect<Page<AuditEntry>, Forbidden | StoreUnavailable, Caller>
    /** Of all environments, and of none: for the host. Newest first. */
    readonly listAll: (
      query: AuditQuery & Pick<AuditFilter, "env_id">,
      page: PageRequest
    ) => Effect.Effect<Page<AuditEntry>, StoreUnavailable>
  }
>()("@weft/core/audit/AuditLog") {
  static readonly layer = (config: AuditConfig = {}): Layer.Layer<AuditLog, never, AuditStore> =>
    Layer.effect(
      AuditLog,
      Effect.gen(function* () {
        const store = yield* AuditStore
        const kept = Duration.days(config.days ?? daysDefault)
        const entries = config.entries ?? entriesDefault

        const sweep: Effect.Effect<void, StoreUnavailable> = Effect.gen(function* () {
          const what = { before: before(yield* now, kept), keep: entries, limit: batch }
          while ((yield* store.trim(what)) === batch);
        })
        yield* forkLasting(
          { name: "The trimming of the audit log", afterFailure: Effect.void },
          Effect.andThen(Effect.sleep(every), sweep)
        )

        const filterOf = ({ within, ...filter }: AuditQuery & Pick<AuditFilter, "env_id">) =>
          Effect.map(now, (instant) => (within === undefined ? filter : { ...filter, since: before(instant, within) }))

        return AuditLog.of({
          list: Effect.fnUntraced(function* (query, page) {
            yield* requirePermission("key", "*", "read")
            const { env_id } = yield* Caller
            return yield* store.list(yield* filterOf({ ...query, env_id }), page)
          }),
          listAll: (query, page) => Effect.flatMap(filterOf(query), (filter) => store.list(filter, page))
        })
      })
    )
}

const daysDefault = 365
const entriesDefault = 10_000

/** Entries that go in one transaction. */
const batch = 500

const every = Duration.minutes(10)
