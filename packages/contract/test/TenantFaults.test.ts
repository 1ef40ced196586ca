/** Stores of tenants with one fault each in hook jobs, which the contract must detect. */
import { tenantStoreChecks } from "@weft/contract"
import { TenantStore, Timestamp } from "@weft/core/adapter"
import { Effect } from "effect"
import { detects, faulty } from "./Faults.ts"

const forever = Timestamp.make(Number.MAX_SAFE_INTEGER)

detects("the contract of hook jobs", tenantStoreChecks, {
  "stores no hook job": faulty(TenantStore, (store) => ({
    insertOrg: (org) => store.insertOrg(org),
    insertEnv: (env) => store.insertEnv(env)
  })),
  "stores hook jobs of rejected tenants": faulty(TenantStore, (store) => ({
    insertOrg: (org, announcement) =>
      Effect.tapErrorTag(store.insertOrg(org, announcement), "Taken", () =>
        store.insertOrg({ ...org, slug: `${org.slug}-2` }, announcement)
      )
  })),
  "returns hook jobs before they are due": faulty(TenantStore, (store) => ({
    dueHookJobs: (kinds, _, limit) => store.dueHookJobs(kinds, forever, limit)
  })),
  "returns more hook jobs than the limit": faulty(TenantStore, (store) => ({
    dueHookJobs: (kinds, now) => store.dueHookJobs(kinds, now, 100)
  })),
  "returns the latest hook job first": faulty(TenantStore, (store) => ({
    dueHookJobs: (kinds, now, limit) => Effect.map(store.dueHookJobs(kinds, now, limit), (all) => all.toReversed())
  })),
  "ignores the kinds of hook jobs": faulty(TenantStore, (store) => ({
    dueHookJobs: (_, now, limit) => store.dueHookJobs(["org", "env"], now, limit)
  })),
  "allows the same attempt to many callers": faulty(TenantStore, (store) => ({
    updateHookJob: (announcement) => Effect.as(store.updateHookJob(announcement), true)
  })),
  "allows no attempt": faulty(TenantStore, () => ({ updateHookJob: () => Effect.succeed(false) })),
  "keeps completed hook jobs": faulty(TenantStore, () => ({ removeHookJob: () => Effect.void })),
  "removes all hook jobs": faulty(TenantStore, (store) => ({
    removeHookJob: () =>
      Effect.flatMap(store.dueHookJobs(["org", "env"], forever, 100), (all) =>
        Effect.forEach(all, ({ tenant_id }) => store.removeHookJob(tenant_id), { discard: true })
      )
  }))
})
