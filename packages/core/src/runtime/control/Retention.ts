/**
 * Removes expired runs, expired recordings and counts of runs, expired idempotency keys, and operations that ended 30 days
 * ago.
 *
 * The plan of the organization, the host and `meta.retention` of a function limit the age of runs. A pass runs when the
 * node starts and every hour, more often if the host keeps runs for less than four hours.
 *
 * The age of a run counts from its start. Running runs are kept until they have ended; events are not removed. Several
 * nodes may execute passes concurrently.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { type EnvId, leastIdAt, RunId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { addMillis, now as currentTime } from "../../foundation/time/Timestamp.ts"
import { Plans } from "../../tenants/orgs/Plans.ts"
import type { Org } from "../../tenants/orgs/Tenant.ts"
import { TenantStore } from "../../tenants/orgs/TenantStore.ts"
import { JournalStore } from "../journal/JournalStore.ts"
import { AdmissionStore } from "../runs/AdmissionStore.ts"
import { seriesRetentionMs } from "../runs/MinuteCounts.ts"
import { OperationStore } from "../runs/OperationStore.ts"
import { RecordingStore } from "../runs/RecordingStore.ts"
import { SeriesStore } from "../runs/SeriesStore.ts"
import { makeFunctionRetention } from "./FunctionRetention.ts"

/** Maximum runs or keys per transaction. */
const batch = 500

/** Pause between transactions, so that live work has priority. */
const pause = "100 millis"

/**
 * Time after their expiry for which keys and states of flow control are kept, in milliseconds. A statement of a partitioned
 * node may be applied late, and decides as of the time of its event.
 */
const lateMs = 300_000

/** Retention of ended operations in milliseconds: 30 days. */
const operationsMs = Duration.toMillis(Duration.days(30))

const intervalMaxMs = Duration.toMillis(Duration.hours(1))

/** @param hostMaxMs maximum age of runs on this host in milliseconds, whatever their plan allows; null without a limit */
export const layer = (hostMaxMs: number | null) => {
  const intervalMs = hostMaxMs === null ? intervalMaxMs : Math.min(intervalMaxMs, Math.ceil(hostMaxMs / 4))

  /** Returns the retention of a plan in milliseconds; null if runs are kept forever. */
  const toRetentionMs = (days: number): number | null => {
    const byPlan = days === -1 ? null : Duration.toMillis(Duration.days(days))
    return byPlan === null ? hostMaxMs : Math.min(byPlan, hostMaxMs ?? byPlan)
  }
  return Layer.effectDiscard(makePasses(toRetentionMs, intervalMs))
}

const makePasses = (toRetentionMs: (days: number) => number | null, intervalMs: number) =>
  Effect.gen(function* () {
    const tenants = yield* TenantStore
    const plans = yield* Plans
    const journal = yield* JournalStore
    const admissions = yield* AdmissionStore
    const operations = yield* OperationStore
    const series = yield* SeriesStore
    const recordings = yield* RecordingStore
    const removeOfFunctions = yield* makeFunctionRetention({ batch, pause: Effect.sleep(pause) })

    /** Removes runs of the environment, with their recordings, and returns their number. */
    const removeFrom = Effect.fnUntraced(function* (envId: EnvId, before: RunId) {
      let count = 0
      while ((yield* recordings.purge(envId, before, batch)) > 0) yield* Effect.sleep(pause)
      while (true) {
        const removed = yield* journal.purge(envId, before, batch)
        if (removed === 0) return count
        count += removed
        yield* Effect.sleep(pause)
      }
    })

    /** Adds the environments of the organization with the least run ids that they keep. */
    const addTo = (before: Map<EnvId, RunId>) =>
      Effect.fnUntraced(function* ({ org_id, plan }: Org) {
        const retentionMs = toRetentionMs(plans.table[plan].call_retention_days)
        if (retentionMs === null) return
        const least = leastIdAt(RunId, (yield* Clock.currentTimeMillis) - retentionMs)
        yield* forAll(
          (page) => tenants.listEnvs(org_id, page),
          (env) => Effect.sync(() => before.set(env.env_id, least))
        )
      })

    const removeKeys = Effect.gen(function* () {
      const before = addMillis(yield* currentTime, -lateMs)
      while ((yield* admissions.forget(before, batch)) > 0) yield* Effect.sleep(pause)
    })

    const removeOperations = Effect.gen(function* () {
      const before = addMillis(yield* currentTime, -operationsMs)
      while ((yield* operations.forget(before, batch)) > 0) yield* Effect.sleep(pause)
    })

    const removeRecordings = Effect.gen(function* () {
      const now = yield* currentTime
      while ((yield* recordings.removeExpired(now, batch)) > 0) yield* Effect.sleep(pause)
    })

    /** Removes counts of runs of all environments, also of those whose runs are kept longer. */
    const removeSeries = Effect.fnUntraced(function* ({ org_id }: Org) {
      const before = addMillis(yield* currentTime, -seriesRetentionMs)
      yield* forAll(
        (page) => tenants.listEnvs(org_id, page),
        Effect.fnUntraced(function* ({ env_id }) {
          while ((yield* series.purge(env_id, before, batch)) > 0) yield* Effect.sleep(pause)
        })
      )
    })

    const pass = Effect.gen(function* () {
      yield* removeKeys
      yield* removeOperations
      yield* removeRecordings
      yield* forAll((page) => tenants.listOrgs(page), removeSeries)
      const before = new Map<EnvId, RunId>()
      yield* forAll((page) => tenants.listOrgs(page), addTo(before))
      let count = yield* journal.purgeWhole(before)
      for (const [envId, least] of before) count += yield* removeFrom(envId, least)
      count += yield* removeOfFunctions(before)
      if (count > 0) yield* Effect.logInfo(`Removed ${count} runs that were older than their retention`)
    })

    const wait = Effect.sleep(intervalMs)
    yield* forkSupervised({ name: "Retention", afterFailure: wait }, Effect.andThen(pass, wait))
  })

const pageSize = 100

/** Visits the items of all pages, one after the other. */
const forAll = Effect.fnUntraced(function* <A>(
  list: (page: PageRequest) => Effect.Effect<Page<A>, StoreUnavailable>,
  visit: (item: A) => Effect.Effect<unknown, StoreUnavailable>
): Effect.fn.Return<void, StoreUnavailable> {
  for (let offset = 0; ; offset += pageSize) {
    const { items } = yield* list({ limit: pageSize, offset })
    for (const item of items) yield* visit(item)
    if (items.length < pageSize) return
  }
})
