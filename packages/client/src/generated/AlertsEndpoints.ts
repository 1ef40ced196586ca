/** The methods of `alerts`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { PageQuery, Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { AlertChange, AlertInput } from "./Inputs.ts"
import type { Alert, AlertTest, AlertWithSecret } from "./Records.ts"

export class AlertsEndpoints extends Endpoints {
  /** List the alert rules with their states, newest first. `GET /v1/alerts` */
  list(query: PageQuery = {}, options: RequestOptions = {}): Pages<Alert> {
    return this.caller.list("/v1/alerts", options, query)
  }

  /** Create an alert rule about a function, a project or the environment. `POST /v1/alerts` */
  create(input: AlertInput, options: RequestOptions = {}): Promise<AlertWithSecret> {
    return this.caller.one("POST", "/v1/alerts", options, { body: input })
  }

  /** Get an alert rule with its state. `GET /v1/alerts/{alert_id}` */
  get(alertId: string, options: RequestOptions = {}): Promise<Alert> {
    return this.caller.one("GET", path`/v1/alerts/${alertId}`, options)
  }

  /** Change an alert rule. Its state is `ok` again if its condition changes, or if it is enabled or disabled. `PATCH /v1/alerts/{alert_id}` */
  update(alertId: string, input: AlertChange = {}, options: RequestOptions = {}): Promise<AlertWithSecret> {
    return this.caller.one("PATCH", path`/v1/alerts/${alertId}`, options, { body: input })
  }

  /** Remove an alert rule. `DELETE /v1/alerts/{alert_id}` */
  remove(alertId: string, options: RequestOptions = {}): Promise<void> {
    return this.caller.none("DELETE", path`/v1/alerts/${alertId}`, options)
  }

  /** Perform the actions of an alert rule now, as a test. `POST /v1/alerts/{alert_id}/test` */
  test(alertId: string, options: RequestOptions = {}): Promise<AlertTest> {
    return this.caller.one("POST", path`/v1/alerts/${alertId}/test`, options)
  }
}
