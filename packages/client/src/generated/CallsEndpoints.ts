/** The methods of `calls`. Follows from the definition of the API: `npm run generate -w packages/client`. */
import type { KeyedOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { freshKey } from "../transport/Key.ts"
import type { CallInput } from "./Inputs.ts"
import type { Event, Run } from "./Records.ts"

export class CallsEndpoints extends Endpoints {
  /** Call a function: its run, ended if it does within `wait`, or 202 with the event if none has begun yet. `POST /v1/calls` */
  call(input: CallInput, options: KeyedOptions = {}): Promise<Run | Event> {
    return this.caller.one("POST", "/v1/calls", options, { body: input, key: options.idempotencyKey ?? freshKey() })
  }
}
