/** The methods of `pauses`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { PageQuery, Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { PauseInput } from "./Inputs.ts"
import type { Pause, PauseState } from "./Records.ts"

export class PausesEndpoints extends Endpoints {
  /** List the active pauses, newest first. `GET /v1/pauses` */
  list(query: PageQuery = {}, options: RequestOptions = {}): Pages<Pause> {
    return this.caller.list("/v1/pauses", options, query)
  }

  /** Pause a function, a project or the environment: deliveries are kept, and runs that have begun continue. If it is paused already, changes `schedules`. `POST /v1/pauses` */
  create(input: PauseInput = {}, options: RequestOptions = {}): Promise<Pause> {
    return this.caller.one("POST", "/v1/pauses", options, { body: input })
  }

  /** Get an active pause with the number of runs that have not ended. `GET /v1/pauses/{pause_id}` */
  get(pauseId: string, options: RequestOptions = {}): Promise<PauseState> {
    return this.caller.one("GET", path`/v1/pauses/${pauseId}`, options)
  }

  /** Resume: the kept deliveries are due at once. `DELETE /v1/pauses/{pause_id}` */
  remove(pauseId: string, options: RequestOptions = {}): Promise<void> {
    return this.caller.none("DELETE", path`/v1/pauses/${pauseId}`, options)
  }
}
