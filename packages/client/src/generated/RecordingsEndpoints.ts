/** The methods of `recordings`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { RecordingsListQuery } from "./Inputs.ts"
import type { Recording, RunRecording } from "./Records.ts"

export class RecordingsEndpoints extends Endpoints {
  /** List recordings without their contents, those of the newest runs first. `GET /v1/recordings` */
  list(query: RecordingsListQuery = {}, options: RequestOptions = {}): Pages<Recording> {
    return this.caller.list("/v1/recordings", options, query)
  }

  /** Get the recording of a run; each read has an entry in the audit log. `GET /v1/runs/{run_id}/recording` */
  get(runId: string, options: RequestOptions = {}): Promise<RunRecording> {
    return this.caller.one("GET", path`/v1/runs/${runId}/recording`, options)
  }
}
