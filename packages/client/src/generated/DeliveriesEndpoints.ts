/** The methods of `deliveries`. Generated from the definition of the API: `npm run generate -w packages/client`. */
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import type { DeliveriesCancelQuery } from "./Inputs.ts"

export class DeliveriesEndpoints extends Endpoints {
  /** Cancel the pending deliveries that match the filters; running runs continue. `POST /v1/deliveries/cancel` */
  cancel(
    query: DeliveriesCancelQuery = {},
    options: RequestOptions = {}
  ): Promise<{
    readonly cancelled: number
  }> {
    return this.caller.one("POST", "/v1/deliveries/cancel", options, { query })
  }
}
