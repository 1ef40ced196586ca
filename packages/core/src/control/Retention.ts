/**
 * Removes runs that are older than their organization's plan keeps them, or the host keeps any, and keys that are free
 * again: when the node starts, and every hour; more often where the host keeps runs for less than four hours.
 *
 * A run is as old as its start, like in the lists; one that has not ended is left until it has. Its event stays.
 * Several nodes may do this at once: what one has removed, the others do not find.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../errors/Errors.ts"
import { forkLasting } from "../errors/Lasting.ts"
import { type EnvId, leastIdAt, RunId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import { now as currentTime } from "../ids/Timestamp.ts"
import { JournalStore } from "../journal/JournalStore.ts"
import { AdmissionStore } from "../runs/AdmissionStore.ts"
import { Plans } from "../tenancy/Plans.ts"
import type { Org } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"

/** Runs, or keys, in one transaction. */
const batch = 500

/** Between transactions, so that what runs now comes first. */
const pause = "100 millis"

const everyMsMost = Duration.toMillis(Duration.hours(1))

/** @param mostMs how long the host keeps runs at most, whatever their plan says, in milliseconds; null leaves it to the plan */
export const layer = (mostMs: number | null) => {
  const everyMs = mostMs === null ? everyMsMost : Math.min(everyMsMost, Math.ceil(mostMs / 4))

  /** In milliseconds; null for ever. */
  const keptMs = (days: number): number | null => {
    const byPlan = days === -1 ? null : Duration.toMillis(Duration.days(days))
    return byPlan === null ? mostMs : Math.min(byPlan, mostMs ?? byPlan)
  }
  return Layer.effectDiscard(makePasses(keptMs, everyMs))
}

const makePasses = (keptMs: (days: number) => number | null, everyMs: number) =>
  Effect.gen(function* () {
    const tenants = yield* TenantStore
    const plans = yield* Plans
    const journal = yield* JournalStore
    const admissions = yield* AdmissionStore

    /** How many of the environment's runs were removed. */
    const removeFrom = Effect.fnUntraced(function* (envId: EnvId, before: RunId) {
      let count = 0
      while (true) {
        const removed = yield* journal.purge(envId, before, batch)
        if (removed === 0) return count
        count += removed
        yield* Effect.sleep(pause)
      }
    })

    /** Adds the environments of the organization, with the least ids of the runs that they keep. */
    const addTo = (before: Map<EnvId, RunId>) =>
      Effect.fnUntraced(function* ({ org_id, plan }: Org) {
        const kept = keptMs(plans.table[plan].call_retention_days)
        if (kept === null) return
        const least = leastIdAt(RunId, (yield* Clock.currentTimeMillis) - kept)
        yield* forAll(
          (page) => tenants.listEnvs(org_id, page),
          (env) => Effect.sync(() => before.set(env.env_id, least))
        )
      })

    const forgetKeys = Effect.gen(function* () {
      while ((yield* admissions.forget(yield* currentTime, batch)) > 0) yield* Effect.sleep(pause)
    })

    const pass = Effect.gen(function* () {
      yield* forgetKeys
      const before = new Map<EnvId, RunId>()
      yield* forAll((page) => tenants.listOrgs(page), addTo(before))
      let count = yield* journal.purgeWhole(before)
      for (const [envId, least] of before) count += yield* removeFrom(envId, least)
      if (count > 0) yield* Effect.logInfo(`${count} runs were older than they are kept and are removed`)
    })

    const wait = Effect.sleep(everyMs)
    yield* forkLasting({ name: "Retention", afterFailure: wait }, Effect.andThen(pass, wait))
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
