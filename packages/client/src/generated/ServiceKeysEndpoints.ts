/** The methods of `serviceKeys`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { PageQuery, Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { ServiceKeyInput } from "./Inputs.ts"
import type { CreatedServiceKey, Revoked, ServiceKey } from "./Records.ts"

export class ServiceKeysEndpoints extends Endpoints {
  /** Create a service key; only this response contains its token. `POST /v1/service-keys` */
  create(input: ServiceKeyInput, options: RequestOptions = {}): Promise<CreatedServiceKey> {
    return this.caller.one("POST", "/v1/service-keys", options, { body: input })
  }

  /** List the service keys of the calling API key, including revoked and expired ones. `GET /v1/service-keys` */
  list(query: PageQuery = {}, options: RequestOptions = {}): Pages<ServiceKey> {
    return this.caller.list("/v1/service-keys", options, query)
  }

  /** Get a service key of the calling API key. `GET /v1/service-keys/{service_key_id}` */
  get(serviceKeyId: string, options: RequestOptions = {}): Promise<ServiceKey> {
    return this.caller.one("GET", path`/v1/service-keys/${serviceKeyId}`, options)
  }

  /** Revoke a service key of the calling API key. `DELETE /v1/service-keys/{service_key_id}` */
  revoke(serviceKeyId: string, options: RequestOptions = {}): Promise<void> {
    return this.caller.none("DELETE", path`/v1/service-keys/${serviceKeyId}`, options)
  }

  /** Revoke all active service keys of the calling API key. `DELETE /v1/service-keys` */
  revokeAll(options: RequestOptions = {}): Promise<Revoked> {
    return this.caller.one("DELETE", "/v1/service-keys", options)
  }
}
