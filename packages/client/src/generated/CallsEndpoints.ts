/** The methods of `calls`. Generated from the definition of the API: `npm run generate -w packages/client`. */
import type { KeyedOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { randomUuid } from "../transport/Random.ts"
import type { CallInput } from "./Inputs.ts"
import type { Event, Run } from "./Records.ts"

export class CallsEndpoints extends Endpoints {
  /** Call a function; returns its run after at most `wait` seconds, or 202 with the event if no run has started. `POST /v1/calls` */
  call(input: CallInput, options: KeyedOptions = {}): Promise<Run | Event> {
    return this.caller.one("POST", "/v1/calls", options, { body: input, key: options.idempotencyKey ?? randomUuid() })
  }
}
