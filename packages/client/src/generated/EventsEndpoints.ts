/** The methods of `events`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { PageQuery, Pages } from "../Pages.ts"
import type { KeyedOptions, RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import { randomUuid } from "../transport/Random.ts"
import type { EventInput } from "./Inputs.ts"
import type { Event, Run } from "./Records.ts"

export class EventsEndpoints extends Endpoints {
  /** Publish an event. `POST /v1/events` */
  publish(input: EventInput, options: KeyedOptions = {}): Promise<Event> {
    return this.caller.one("POST", "/v1/events", options, { body: input, key: options.idempotencyKey ?? randomUuid() })
  }

  /** List events, newest first. `GET /v1/events` */
  list(query: PageQuery = {}, options: RequestOptions = {}): Pages<Event> {
    return this.caller.list("/v1/events", options, query)
  }

  /** Get an event. `GET /v1/events/{event_id}` */
  get(eventId: string, options: RequestOptions = {}): Promise<Event> {
    return this.caller.one("GET", path`/v1/events/${eventId}`, options)
  }

  /** List the runs that an event triggered; all of them by default. `GET /v1/events/{event_id}/runs` */
  runs(eventId: string, query: PageQuery = {}, options: RequestOptions = {}): Pages<Run> {
    return this.caller.list(path`/v1/events/${eventId}/runs`, options, query)
  }
}
