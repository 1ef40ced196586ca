/** The methods of `deadLetters`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import type { DeadLetterDiscardInput, DeadLetterRedriveInput, DeadLettersListQuery } from "./Inputs.ts"
import type { DeadLetter, DiscardedDeadLetters, RedrivenDeadLetters } from "./Records.ts"

export class DeadLettersEndpoints extends Endpoints {
  /** List deliveries whose last attempt failed, or that expired, the latest first. `total` counts at most 10,000 of them, or one beyond the end of the page. `GET /v1/dead-letters` */
  list(query: DeadLettersListQuery = {}, options: RequestOptions = {}): Pages<DeadLetter> {
    return this.caller.list("/v1/dead-letters", options, query)
  }

  /** Run the functions of the matching letters again for the same events, the oldest first, at most 500 per request. Each letter starts once. `POST /v1/dead-letters/redrive` */
  redrive(input: DeadLetterRedriveInput = {}, options: RequestOptions = {}): Promise<RedrivenDeadLetters> {
    return this.caller.one("POST", "/v1/dead-letters/redrive", options, { body: input })
  }

  /** Remove the matching letters from the list, at most 500 per request; their runs stay. `POST /v1/dead-letters/discard` */
  discard(input: DeadLetterDiscardInput = {}, options: RequestOptions = {}): Promise<DiscardedDeadLetters> {
    return this.caller.one("POST", "/v1/dead-letters/discard", options, { body: input })
  }
}
