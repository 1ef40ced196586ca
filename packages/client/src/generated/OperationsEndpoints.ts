/** The methods of `operations`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { Pages } from "../Pages.ts"
import type { KeyedOptions, RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import { randomUuid } from "../transport/Random.ts"
import type { OperationInput, OperationsListQuery } from "./Inputs.ts"
import type { Operation, OperationPreview } from "./Records.ts"

export class OperationsEndpoints extends Endpoints {
  /** List operations, newest first; a credential for some functions sees only its own. Kept for 30 days. `GET /v1/operations` */
  list(query: OperationsListQuery = {}, options: RequestOptions = {}): Pages<Operation> {
    return this.caller.list("/v1/operations", options, query)
  }

  /** Cancel or replay all runs that match the filter and began before now, or redrive their dead letters, in the background. With `dry_run`, only counts them. `POST /v1/operations` */
  create(input: OperationInput, options: KeyedOptions = {}): Promise<OperationPreview | Operation> {
    return this.caller.one("POST", "/v1/operations", options, {
      body: input,
      key: options.idempotencyKey ?? randomUuid()
    })
  }

  /** Get an operation with its progress. With `Accept: text/event-stream`, messages `operation:progress` with each state, and then `operation:end`. `GET /v1/operations/{operation_id}` */
  get(operationId: string, options: RequestOptions = {}): Promise<Operation> {
    return this.caller.one("GET", path`/v1/operations/${operationId}`, options)
  }

  /** End an operation; its effects stay. `POST /v1/operations/{operation_id}/cancel` */
  cancel(operationId: string, options: RequestOptions = {}): Promise<Operation> {
    return this.caller.one("POST", path`/v1/operations/${operationId}/cancel`, options)
  }
}
