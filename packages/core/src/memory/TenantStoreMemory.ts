/** `TenantStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { NotFound, Taken } from "../foundation/Errors.ts"
import { Org } from "../tenants/orgs/Tenant.ts"
import type { TenantHookJob } from "../tenants/orgs/TenantHookJob.ts"
import { TenantStore } from "../tenants/orgs/TenantStore.ts"
import { compareText, MemoryDatabase, toPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<TenantStore, never, MemoryDatabase> = Layer.effect(
  TenantStore,
  Effect.gen(function* () {
    const { orgs, envs, previews, hookJobs } = yield* MemoryDatabase

    const findOrg = (idOrSlug: string) =>
      [...orgs.values()].find((org) => org.org_id === idOrSlug || org.slug === idOrSlug)

    const addHookJob = (job?: TenantHookJob) => {
      if (job !== undefined) hookJobs.set(job.tenant_id, job)
    }

    return TenantStore.of({
      insertOrg: (org, job) =>
        Effect.suspend(() => {
          if (orgs.has(org.org_id) || findOrg(org.slug) !== undefined) return Effect.fail(new Taken({ what: "slug" }))
          orgs.set(org.org_id, org)
          addHookJob(job)
          return Effect.void
        }),

      getOrg: (idOrSlug) => Effect.suspend(() => orFail(findOrg(idOrSlug), "organization")),

      listOrgs: (page) =>
        Effect.sync(() =>
          toPage(
            [...orgs.values()].sort((a, b) => compareText(b.org_id, a.org_id)),
            page
          )
        ),

      updateOrg: Effect.fnUntraced(function* (org) {
        const old = yield* orFail(orgs.get(org.org_id), "organization")
        const { name, plan, members, updated_at } = org
        orgs.set(old.org_id, new Org({ ...old, name, plan, members, updated_at }))
      }),

      insertEnv: (env, job) =>
        Effect.suspend(() => {
          const taken = [...envs.values()].some((other) => other.org_id === env.org_id && other.name === env.name)
          if (taken || envs.has(env.env_id)) return Effect.fail(new Taken({ what: "environment name" }))
          envs.set(env.env_id, env)
          addHookJob(job)
          return Effect.void
        }),

      getEnv: (id) => Effect.suspend(() => orFail(envs.get(id), "environment")),

      copiesTo: (id) =>
        Effect.sync(() =>
          [...previews.values()]
            .filter(
              ({ removed_at, preview }) => removed_at === null && preview.parent_env_id === id && preview.copy_events
            )
            .map(({ preview }) => preview.env_id)
            .sort(compareText)
        ),

      findEnv: (orgSlug, envName) =>
        Effect.suspend(() => {
          const org = [...orgs.values()].find((candidate) => candidate.slug === orgSlug)
          return orFail(
            [...envs.values()].find((env) => env.org_id === org?.org_id && env.name === envName),
            "environment"
          )
        }),

      listEnvs: (orgId, page, which = "all") =>
        Effect.sync(() =>
          toPage(
            [...envs.values()]
              .filter((env) => env.org_id === orgId && (which === "all" || env.preview === undefined))
              .sort((a, b) => compareText(b.env_id, a.env_id)),
            page
          )
        ),

      dueHookJobs: (kinds, now, limit) =>
        Effect.sync(() =>
          [...hookJobs.values()]
            .filter(({ kind, due_at }) => kinds.includes(kind) && due_at <= now)
            .sort((a, b) => a.due_at - b.due_at || compareText(a.tenant_id, b.tenant_id))
            .slice(0, limit)
        ),

      updateHookJob: (job) =>
        Effect.sync(() => {
          const old = hookJobs.get(job.tenant_id)
          if (old?.attempts !== job.attempts - 1) return false
          hookJobs.set(job.tenant_id, job)
          return true
        }),

      removeHookJob: (tenantId) => Effect.sync(() => void hookJobs.delete(tenantId))
    })
  })
)

const orFail = <A>(value: A | undefined, resource: string) =>
  value === undefined ? Effect.fail(new NotFound({ resource })) : Effect.succeed(value)
