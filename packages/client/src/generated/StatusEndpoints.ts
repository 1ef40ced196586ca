/** The methods of `status`. Follows from the definition of the API: `npm run generate -w packages/client`. */
import type { Json } from "../Json.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import type { Health, Status } from "./Records.ts"

export class StatusEndpoints extends Endpoints {
  /** The version of the server and since when it runs. `GET /v1/status` */
  get(options: RequestOptions = {}): Promise<Status> {
    return this.caller.plain("/v1/status", options)
  }

  /** This document. `GET /v1/openapi.json` */
  openapi(options: RequestOptions = {}): Promise<Readonly<Record<string, Json>>> {
    return this.caller.plain("/v1/openapi.json", options)
  }

  /** What the node counts, for Prometheus; a host may ask for a token of its own. `GET /metrics` */
  metrics(options: RequestOptions = {}): Promise<string> {
    return this.caller.text("/metrics", options)
  }

  /** Whether the process answers. `GET /healthz` */
  healthz(options: RequestOptions = {}): Promise<Health> {
    return this.caller.plain("/healthz", options)
  }

  /** Whether the server takes requests and its store answers. `GET /readyz` */
  readyz(options: RequestOptions = {}): Promise<Health> {
    return this.caller.plain("/readyz", options)
  }
}
