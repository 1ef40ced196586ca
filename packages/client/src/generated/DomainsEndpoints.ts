/** The methods of `domains`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { PageQuery, Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { DomainInput } from "./Inputs.ts"
import type { Domain, DomainVerification } from "./Records.ts"

export class DomainsEndpoints extends Endpoints {
  /** List the custom domains of the environment, newest first; all of them by default. `GET /v1/domains` */
  list(query: PageQuery = {}, options: RequestOptions = {}): Pages<Domain> {
    return this.caller.list("/v1/domains", options, query)
  }

  /** Register a custom domain. `POST /v1/domains` */
  add(input: DomainInput, options: RequestOptions = {}): Promise<Domain> {
    return this.caller.one("POST", "/v1/domains", options, { body: input })
  }

  /** Get a custom domain. `GET /v1/domains/{domain_id}` */
  get(domainId: string, options: RequestOptions = {}): Promise<Domain> {
    return this.caller.one("GET", path`/v1/domains/${domainId}`, options)
  }

  /** Check now if a custom domain can be validated. `POST /v1/domains/{domain_id}/verify` */
  verify(domainId: string, options: RequestOptions = {}): Promise<DomainVerification> {
    return this.caller.one("POST", path`/v1/domains/${domainId}/verify`, options)
  }

  /** Delete a custom domain; stops its routing at once, and removes its resources in the background. `DELETE /v1/domains/{domain_id}` */
  remove(domainId: string, options: RequestOptions = {}): Promise<void> {
    return this.caller.none("DELETE", path`/v1/domains/${domainId}`, options)
  }
}
