/** `DomainStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { DomainExists, DomainLimitReached, NotFound } from "../foundation/Errors.ts"
import type { DomainId, EnvId } from "../foundation/Ids.ts"
import type { Timestamp } from "../foundation/time/Timestamp.ts"
import { type Domain, type DomainRoute, isRouted } from "../resources/domains/Domain.ts"
import { DomainStore } from "../resources/domains/DomainStore.ts"
import { compareText, MemoryDatabase, toPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<DomainStore, never, MemoryDatabase> = Layer.effect(
  DomainStore,
  Effect.gen(function* () {
    const { domains, certificates, envs, orgs } = yield* MemoryDatabase

    const findOwn = (envId: EnvId, id: DomainId) => {
      const domain = domains.get(id)
      return domain?.env_id === envId ? Effect.succeed(domain) : Effect.fail(noDomain)
    }
    const change = (domain: Domain, fields: Partial<Domain>): Domain => {
      const changed = { ...domain, ...fields, version: domain.version + 1 }
      domains.set(domain.domain_id, changed)
      return changed
    }
    const extendHold = (domain: Domain, until: Timestamp) => change(domain, { next_check_at: until, held_until: until })

    const toRoutes = ({ domain, env_id, status }: Domain): ReadonlyArray<DomainRoute> => {
      const env = envs.get(env_id)
      const org = env === undefined ? undefined : orgs.get(env.org_id)
      return env === undefined || org === undefined || !isRouted(status)
        ? []
        : [{ domain, org_slug: org.slug, env_name: env.name }]
    }
    const findByName = (name: string) => [...domains.values()].filter(({ domain }) => domain === name)
    const certificate = (id: DomainId | undefined) => {
      const found = id === undefined ? undefined : certificates.get(id)
      return found === undefined ? Effect.fail(noCertificate) : Effect.succeed(found)
    }

    return DomainStore.of({
      insert: (domain, limit) =>
        Effect.suspend((): Effect.Effect<void, DomainLimitReached | DomainExists> => {
          const others = [...domains.values()].filter(
            ({ org_id, status }) => org_id === domain.org_id && status !== "deleting"
          )
          if (limit !== -1 && others.length >= limit) return Effect.fail(new DomainLimitReached({ limit }))
          if (findByName(domain.domain).length > 0) return Effect.fail(new DomainExists({}))
          domains.set(domain.domain_id, domain)
          return Effect.void
        }),

      get: (envId, id) => Effect.suspend(() => findOwn(envId, id)),

      list: (envId, page) =>
        Effect.sync(() =>
          toPage(
            [...domains.values()]
              .filter((domain) => domain.env_id === envId)
              .sort((a, b) => compareText(b.domain_id, a.domain_id)),
            page
          )
        ),

      routes: Effect.sync(() => [...domains.values()].flatMap(toRoutes)),

      route: (name) =>
        Effect.suspend(() => {
          const [route] = findByName(name).flatMap(toRoutes)
          return route === undefined ? Effect.fail(noDomain) : Effect.succeed(route)
        }),

      claim: ({ now, until, limit }) =>
        Effect.sync(() => {
          const byDue = [...domains.values()].sort((a, b) => a.next_check_at - b.next_check_at)
          const due = byDue.filter((domain) => domain.next_check_at <= now).slice(0, limit)
          const [next] = byDue.filter((domain) => !due.includes(domain))
          return { domains: due.map((domain) => extendHold(domain, until)), next_due_at: next?.next_check_at ?? null }
        }),

      hold: (envId, id, { now, until }) =>
        Effect.map(
          Effect.suspend(() => findOwn(envId, id)),
          (domain) => (domain.held_until !== null && domain.held_until > now ? null : extendHold(domain, until))
        ),

      settle: (domain, issued) =>
        Effect.sync(() => {
          const stored = domains.get(domain.domain_id)
          if (stored?.version !== domain.version) return false
          const { status, routing_domain, checks, next_check_at, held_until, failed_orders, next_order_at } = domain
          change(stored, { status, routing_domain, checks, next_check_at, held_until, failed_orders, next_order_at })
          if (issued !== null) certificates.set(stored.domain_id, issued)
          return true
        }),

      beginRemoval: (envId, id, now) =>
        Effect.flatMap(
          Effect.suspend(() => findOwn(envId, id)),
          (domain) =>
            domain.status === "deleting"
              ? Effect.fail(noDomain)
              : Effect.succeed(change(domain, { status: "deleting", checks: 0, next_check_at: now, held_until: null }))
        ),

      remove: ({ domain_id, version }) =>
        Effect.sync(() => {
          const stored = domains.get(domain_id)
          if (stored?.version !== version || stored.status !== "deleting") return false
          certificates.delete(domain_id)
          return domains.delete(domain_id)
        }),

      certificate: (id) => Effect.suspend(() => certificate(id)),

      certificateOf: (name) =>
        Effect.suspend(() => certificate(findByName(name).find(({ status }) => isRouted(status))?.domain_id))
    })
  })
)

const noDomain = new NotFound({ resource: "domain" })
const noCertificate = new NotFound({ resource: "certificate" })
