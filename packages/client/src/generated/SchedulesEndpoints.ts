/** The methods of `schedules`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { PageQuery, Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { SchedulesUpcomingQuery } from "./Inputs.ts"
import type { DynamicSchedule, UpcomingTicks } from "./Records.ts"

export class SchedulesEndpoints extends Endpoints {
  /** List the schedules that events created, newest first. `GET /v1/schedules` */
  list(query: PageQuery = {}, options: RequestOptions = {}): Pages<DynamicSchedule> {
    return this.caller.list("/v1/schedules", options, query)
  }

  /** List all schedules, also those of builds, by their next tick, with their next ticks. `GET /v1/schedules/ticks` */
  upcoming(query: SchedulesUpcomingQuery = {}, options: RequestOptions = {}): Pages<UpcomingTicks> {
    return this.caller.list("/v1/schedules/ticks", options, query)
  }

  /** Delete a schedule that an event created. `DELETE /v1/schedules/{schedule_id}` */
  remove(scheduleId: string, options: RequestOptions = {}): Promise<void> {
    return this.caller.none("DELETE", path`/v1/schedules/${scheduleId}`, options)
  }
}
