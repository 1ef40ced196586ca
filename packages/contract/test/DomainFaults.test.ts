/** Stores of domains with one fault each, which the contract must detect. */
import { domainStoreChecks } from "@weft/contract"
import { type Domain, DomainStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { at, envId, everything } from "../src/Samples.ts"
import { detects, faulty } from "./Faults.ts"

detects("the contract of domains", domainStoreChecks, {
  "has no limit": faulty(DomainStore, (store) => ({ insert: (domain) => store.insert(domain, -1) })),
  "counts an environment instead of its organization": faulty(DomainStore, (store) => ({
    insert: (domain, limit) =>
      Effect.flatMap(store.list(domain.env_id, everything), ({ total }) =>
        store.insert(domain, limit === -1 || total < limit ? -1 : limit)
      )
  })),
  "checks the limit before it waits": faulty(DomainStore, (store) => ({
    insert: (domain, limit) =>
      Effect.flatMap(store.list(domain.env_id, everything), ({ items }) => {
        const count = items.filter(({ org_id, status }) => org_id === domain.org_id && status !== "deleting").length
        return limit !== -1 && count >= limit
          ? store.insert(domain, limit)
          : Effect.andThen(Effect.yieldNow, store.insert(domain, limit <= 1 ? limit : limit + 10))
      })
  })),
  "accepts registered names": faulty(DomainStore, (store) => ({
    insert: (domain, limit) => Effect.catchTag(store.insert(domain, limit), "DomainExists", () => Effect.void)
  })),
  "reads other environments": faulty(DomainStore, (store) => ({
    get: (env, id) => Effect.catchTag(store.get(env, id), "NotFound", () => store.get(envId(1), id))
  })),
  "removes from other environments": faulty(DomainStore, (store) => ({
    beginRemoval: (_, id, now) => store.beginRemoval(envId(1), id, now)
  })),
  "holds domains of other environments": faulty(DomainStore, (store) => ({
    hold: (_, id, claim) => store.hold(envId(1), id, claim)
  })),
  "lists the oldest first": faulty(DomainStore, (store) => ({
    list: (env, page) =>
      Effect.map(store.list(env, page), ({ items, total }) => ({ items: [...items].reverse(), total }))
  })),
  "returns the page size as the total": faulty(DomainStore, (store) => ({
    list: (env, page) => Effect.map(store.list(env, page), ({ items }) => ({ items, total: items.length }))
  })),
  "claims records that are not due": faulty(DomainStore, (store) => ({
    claim: (claim) => store.claim({ ...claim, now: at(1_000_000) })
  })),
  "claims twice": faulty(DomainStore, (store) => {
    let last: ReadonlyArray<Domain> = []
    return {
      claim: (claim) =>
        Effect.map(store.claim(claim), (result) => {
          if (result.domains.length > 0) last = result.domains
          return { ...result, domains: last }
        })
    }
  }),
  "ignores the limit of a claim": faulty(DomainStore, (store) => ({
    claim: (claim) => store.claim({ ...claim, limit: 1000 })
  })),
  "never returns when the next is due": faulty(DomainStore, (store) => ({
    claim: (claim) => Effect.map(store.claim(claim), ({ domains }) => ({ domains, next_due_at: null }))
  })),
  "holds domains that are already held": faulty(DomainStore, (store) => ({
    hold: (env, id, { until }) => store.hold(env, id, { now: at(1_000_000), until })
  })),
  "settles without a fence": faulty(DomainStore, (store) => ({
    settle: (domain, certificate) =>
      Effect.flatMap(Effect.orDie(store.get(envId(1), domain.domain_id)), ({ version }) =>
        store.settle({ ...domain, version }, certificate)
      )
  })),
  "loses certificates": faulty(DomainStore, (store) => ({ settle: (domain) => store.settle(domain, null) })),
  "routes domains that are not validated": faulty(DomainStore, (store) => ({
    route: (name) =>
      Effect.catchTag(store.route(name), "NotFound", (error) =>
        Effect.flatMap(store.list(envId(1), everything), ({ items }) => {
          const found = items.find(({ domain }) => domain === name)
          return found === undefined
            ? Effect.fail(error)
            : Effect.succeed({ domain: found.domain, org_slug: "acme", env_name: "prod" })
        })
      )
  })),
  "loses a route": faulty(DomainStore, (store) => ({ routes: Effect.map(store.routes, (routes) => routes.slice(1)) })),
  "returns certificates in any state of the domain": faulty(DomainStore, (store) => ({
    certificateOf: (name) =>
      Effect.catchTag(store.certificateOf(name), "NotFound", (error) =>
        Effect.flatMap(store.list(envId(1), everything), ({ items }) => {
          const found = items.find(({ domain }) => domain === name)
          return found === undefined ? Effect.fail(error) : store.certificate(found.domain_id)
        })
      )
  })),
  "reports removals that it did not make": faulty(DomainStore, (store) => ({
    remove: (domain) => Effect.as(store.remove(domain), true)
  })),
  "removes a domain that is not deleting": faulty(DomainStore, (store) => ({
    remove: (domain) =>
      store.beginRemoval(domain.env_id, domain.domain_id, at(0)).pipe(
        Effect.flatMap(store.remove),
        Effect.catchTag("NotFound", () => store.remove(domain))
      )
  }))
})
