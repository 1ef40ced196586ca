/** The methods of `status`. Generated from the definition of the API: `npm run generate -w packages/client`. */
import type { Json } from "../Json.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import type { Health, Status } from "./Records.ts"

export class StatusEndpoints extends Endpoints {
  /** Get the version and the start time of the server. `GET /v1/status` */
  get(options: RequestOptions = {}): Promise<Status> {
    return this.caller.plain("/v1/status", options)
  }

  /** Get this document. `GET /v1/openapi.json` */
  openapi(options: RequestOptions = {}): Promise<Readonly<Record<string, Json>>> {
    return this.caller.plain("/v1/openapi.json", options)
  }

  /** Get the metrics of the node for Prometheus; a host may require a token. `GET /metrics` */
  metrics(options: RequestOptions = {}): Promise<string> {
    return this.caller.text("/metrics", options)
  }

  /** Check that the process responds. `GET /healthz` */
  healthz(options: RequestOptions = {}): Promise<Health> {
    return this.caller.plain("/healthz", options)
  }

  /** Check that the server accepts requests and its store is available. `GET /readyz` */
  readyz(options: RequestOptions = {}): Promise<Health> {
    return this.caller.plain("/readyz", options)
  }
}
