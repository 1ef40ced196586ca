/** The methods of `audit`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import type { AuditListQuery } from "./Inputs.ts"
import type { AuditEntry } from "./Records.ts"

export class AuditEndpoints extends Endpoints {
  /** List the audit log of the environment, newest first. `GET /v1/audit` */
  list(query: AuditListQuery = {}, options: RequestOptions = {}): Pages<AuditEntry> {
    return this.caller.list("/v1/audit", options, query)
  }
}
