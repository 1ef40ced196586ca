/** The methods of `triggers`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { PageQuery, Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { EventHandler, Schedule } from "./Records.ts"

export class TriggersEndpoints extends Endpoints {
  /** List the event handlers of the deployed build, by ns, then var. `GET /v1/projects/{project_id_or_slug}/event-handlers` */
  eventHandlers(project: string, query: PageQuery = {}, options: RequestOptions = {}): Pages<EventHandler> {
    return this.caller.list(path`/v1/projects/${project}/event-handlers`, options, query)
  }

  /** List the schedules of the deployed build, by ns, then var. `GET /v1/projects/{project_id_or_slug}/schedules` */
  schedules(project: string, query: PageQuery = {}, options: RequestOptions = {}): Pages<Schedule> {
    return this.caller.list(path`/v1/projects/${project}/schedules`, options, query)
  }
}
