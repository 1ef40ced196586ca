/** The custom domains of one environment as an embedding program sees them. */
import type { Effect } from "effect"
import type { Caller } from "./access/Caller.ts"
import type { Domain } from "./domains/Domain.ts"
import { Domains, type Verification } from "./domains/Domains.ts"
import { firstPage, type Page, type PageRequest } from "./ids/Page.ts"

export interface HostDomains {
  readonly list: (page?: PageRequest) => Promise<Page<Domain>>
  readonly add: (input: { readonly domain: string }) => Promise<Domain>
  readonly get: (domainId: string) => Promise<Domain>
  /** Looks whether the domain can be validated now; waits for it for up to 15 s. */
  readonly verify: (domainId: string) => Promise<Verification>
  /** Ends its routing at once; what is left goes in the background. */
  readonly remove: (domainId: string) => Promise<void>
}

export const hostDomains = (run: <A, E>(effect: Effect.Effect<A, E, Domains | Caller>) => Promise<A>): HostDomains => ({
  list: (page = firstPage) => run(Domains.use((domains) => domains.list(page))),
  add: (input) => run(Domains.use((domains) => domains.add(input))),
  get: (domainId) => run(Domains.use((domains) => domains.get(domainId))),
  verify: (domainId) => run(Domains.use((domains) => domains.verify(domainId))),
  remove: (domainId) => run(Domains.use((domains) => domains.remove(domainId)))
})
