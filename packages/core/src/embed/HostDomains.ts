/** The custom domains of one environment, for the host. */
import type { Effect } from "effect"
import { firstPage, type Page, type PageRequest } from "../foundation/Page.ts"
import type { Domain } from "../resources/domains/Domain.ts"
import { Domains, type Verification } from "../resources/domains/Domains.ts"
import type { Caller } from "../tenants/access/Caller.ts"

export interface HostDomains {
  readonly list: (page?: PageRequest) => Promise<Page<Domain>>
  readonly add: (input: { readonly domain: string }) => Promise<Domain>
  readonly get: (domainId: string) => Promise<Domain>
  /** Tries to validate the domain; waits up to 15 s for the result. */
  readonly verify: (domainId: string) => Promise<Verification>
  /** Ends the routing of the domain immediately; the rest is removed in the background. */
  readonly remove: (domainId: string) => Promise<void>
}

export const hostDomains = (run: <A, E>(effect: Effect.Effect<A, E, Domains | Caller>) => Promise<A>): HostDomains => ({
  list: (page = firstPage) => run(Domains.use((domains) => domains.list(page))),
  add: (input) => run(Domains.use((domains) => domains.add(input))),
  get: (domainId) => run(Domains.use((domains) => domains.get(domainId))),
  verify: (domainId) => run(Domains.use((domains) => domains.verify(domainId))),
  remove: (domainId) => run(Domains.use((domains) => domains.remove(domainId)))
})
