/** Stores of tenants with one fault each of what hosts are to be told. */
import { tenantStoreChecks } from "@weft/contract"
import { TenantStore, Timestamp } from "@weft/core"
import { Effect } from "effect"
import { faulty, notices } from "./Faults.ts"

const forever = Timestamp.make(Number.MAX_SAFE_INTEGER)

notices("the contract of announcements", tenantStoreChecks, {
  "forgets to announce": faulty(TenantStore, (store) => ({
    insertOrg: (org) => store.insertOrg(org),
    insertEnv: (env) => store.insertEnv(env)
  })),
  "announces what it does not store": faulty(TenantStore, (store) => ({
    insertOrg: (org, announcement) =>
      Effect.tapErrorTag(store.insertOrg(org, announcement), "Taken", () =>
        store.insertOrg({ ...org, slug: `${org.slug}-2` }, announcement)
      )
  })),
  "announces before the time": faulty(TenantStore, (store) => ({
    dueAnnouncements: (kinds, _, limit) => store.dueAnnouncements(kinds, forever, limit)
  })),
  "gives all at once": faulty(TenantStore, (store) => ({
    dueAnnouncements: (kinds, now) => store.dueAnnouncements(kinds, now, 100)
  })),
  "gives the latest first": faulty(TenantStore, (store) => ({
    dueAnnouncements: (kinds, now, limit) =>
      Effect.map(store.dueAnnouncements(kinds, now, limit), (all) => all.toReversed())
  })),
  "gives what somebody else wants to know": faulty(TenantStore, (store) => ({
    dueAnnouncements: (_, now, limit) => store.dueAnnouncements(["org", "env"], now, limit)
  })),
  "lets everybody make the same attempt": faulty(TenantStore, (store) => ({
    updateAnnouncement: (announcement) => Effect.as(store.updateAnnouncement(announcement), true)
  })),
  "lets nobody make an attempt": faulty(TenantStore, () => ({ updateAnnouncement: () => Effect.succeed(false) })),
  "goes on with what was announced": faulty(TenantStore, () => ({ removeAnnouncement: () => Effect.void })),
  "removes all that is announced": faulty(TenantStore, (store) => ({
    removeAnnouncement: () =>
      Effect.flatMap(store.dueAnnouncements(["org", "env"], forever, 100), (all) =>
        Effect.forEach(all, ({ tenant_id }) => store.removeAnnouncement(tenant_id), { discard: true })
      )
  }))
})
