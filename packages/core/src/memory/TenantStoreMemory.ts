/** `TenantStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound, Taken } from "../errors/Errors.ts"
import type { Announcement } from "../tenancy/Announcement.ts"
import { Org } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { compareText, MemoryDatabase, pageOf } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<TenantStore, never, MemoryDatabase> = Layer.effect(
  TenantStore,
  Effect.gen(function* () {
    const { orgs, envs, announcements } = yield* MemoryDatabase

    const findOrg = (idOrSlug: string) =>
      [...orgs.values()].find((org) => org.org_id === idOrSlug || org.slug === idOrSlug)

    const announce = (announcement?: Announcement) => {
      if (announcement !== undefined) announcements.set(announcement.tenant_id, announcement)
    }

    return TenantStore.of({
      insertOrg: (org, announcement) =>
        Effect.suspend(() => {
          if (orgs.has(org.org_id) || findOrg(org.slug) !== undefined) return Effect.fail(new Taken({ what: "slug" }))
          orgs.set(org.org_id, org)
          announce(announcement)
          return Effect.void
        }),

      getOrg: (idOrSlug) => Effect.suspend(() => orFail(findOrg(idOrSlug), "organization")),

      listOrgs: (page) =>
        Effect.sync(() =>
          pageOf(
            [...orgs.values()].sort((a, b) => compareText(b.org_id, a.org_id)),
            page
          )
        ),

      updateOrg: Effect.fnUntraced(function* (org) {
        const old = yield* orFail(orgs.get(org.org_id), "organization")
        const { name, plan, members, updated_at } = org
        orgs.set(old.org_id, new Org({ ...old, name, plan, members, updated_at }))
      }),

      insertEnv: (env, announcement) =>
        Effect.suspend(() => {
          const taken = [...envs.values()].some((other) => other.org_id === env.org_id && other.name === env.name)
          if (taken || envs.has(env.env_id)) return Effect.fail(new Taken({ what: "environment name" }))
          envs.set(env.env_id, env)
          announce(announcement)
          return Effect.void
        }),

      getEnv: (id) => Effect.suspend(() => orFail(envs.get(id), "environment")),

      findEnv: (orgSlug, envName) =>
        Effect.suspend(() => {
          const org = [...orgs.values()].find((candidate) => candidate.slug === orgSlug)
          return orFail(
            [...envs.values()].find((env) => env.org_id === org?.org_id && env.name === envName),
            "environment"
          )
        }),

      listEnvs: (orgId, page) =>
        Effect.sync(() =>
          pageOf(
            [...envs.values()].filter((env) => env.org_id === orgId).sort((a, b) => compareText(b.env_id, a.env_id)),
            page
          )
        ),

      dueAnnouncements: (kinds, now, limit) =>
        Effect.sync(() =>
          [...announcements.values()]
            .filter(({ kind, due_at }) => kinds.includes(kind) && due_at <= now)
            .sort((a, b) => a.due_at - b.due_at || compareText(a.tenant_id, b.tenant_id))
            .slice(0, limit)
        ),

      updateAnnouncement: (announcement) =>
        Effect.sync(() => {
          const old = announcements.get(announcement.tenant_id)
          if (old?.attempts !== announcement.attempts - 1) return false
          announcements.set(announcement.tenant_id, announcement)
          return true
        }),

      removeAnnouncement: (tenantId) => Effect.sync(() => void announcements.delete(tenantId))
    })
  })
)

const orFail = <A>(value: A | undefined, resource: string) =>
  value === undefined ? Effect.fail(new NotFound({ resource })) : Effect.succeed(value)
