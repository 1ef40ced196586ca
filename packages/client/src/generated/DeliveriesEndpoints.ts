/** The methods of `deliveries`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { DeliveriesCancelQuery, DeliveriesListQuery } from "./Inputs.ts"
import type { Delivery, WaitingItem } from "./Records.ts"

export class DeliveriesEndpoints extends Endpoints {
  /** List pending deliveries with the reasons why they wait, in the order in which they are due. `total` counts at most 10,000 of them, or one beyond the end of the page. `GET /v1/deliveries` */
  list(query: DeliveriesListQuery = {}, options: RequestOptions = {}): Pages<Delivery> {
    return this.caller.list("/v1/deliveries", options, query)
  }

  /** Explain why a delivery, a run, the deliveries of an event, or a schedule wait. `GET /v1/waiting/{waiting_id}` */
  why(waitingId: string, options: RequestOptions = {}): Pages<WaitingItem> {
    return this.caller.list(path`/v1/waiting/${waitingId}`, options)
  }

  /** Cancel the pending deliveries that match the filters; running runs continue. `POST /v1/deliveries/cancel` */
  cancel(
    query: DeliveriesCancelQuery = {},
    options: RequestOptions = {}
  ): Promise<{
    readonly cancelled: number
    /** Extension: for a dry run, number of deliveries that the request would cancel */
    readonly matched?: number
  }> {
    return this.caller.one("POST", "/v1/deliveries/cancel", options, { query })
  }
}
