/** The methods of `env`. Generated from the definition of the API: `npm run generate -w packages/client`. */
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import type { OrganizationUsage, OwnEnvironment } from "./Records.ts"

export class EnvEndpoints extends Endpoints {
  /** Get the environment of the credential. `GET /v1/env` */
  get(options: RequestOptions = {}): Promise<OwnEnvironment> {
    return this.caller.one("GET", "/v1/env", options)
  }

  /** Get the usage of the organization and the limits of its plan. `GET /v1/org/usage` */
  usage(options: RequestOptions = {}): Promise<OrganizationUsage> {
    return this.caller.one("GET", "/v1/org/usage", options)
  }
}
