/** The methods of `repl`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { PageQuery, Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { ReplCompletionInput, ReplInput, ReplSessionInput } from "./Inputs.ts"
import type { ReplCompletion, ReplResult, ReplSession } from "./Records.ts"

export class ReplEndpoints extends Endpoints {
  /** List the sessions of the credential on this node, oldest first. `GET /v1/repl` */
  list(query: PageQuery = {}, options: RequestOptions = {}): Pages<ReplSession> {
    return this.caller.list("/v1/repl", options, query)
  }

  /** Open a session that evaluates inputs and keeps their variables, on this node. `POST /v1/repl` */
  open(input: ReplSessionInput = {}, options: RequestOptions = {}): Promise<ReplSession> {
    return this.caller.one("POST", "/v1/repl", options, { body: input })
  }

  /** Evaluate an input; returns its result, log and usage. `POST /v1/repl/{repl_id}/input` */
  input(replId: string, input: ReplInput, options: RequestOptions = {}): Promise<ReplResult> {
    return this.caller.one("POST", path`/v1/repl/${replId}/input`, options, { body: input })
  }

  /** Complete the name or member before the cursor, without a call of code. `POST /v1/repl/{repl_id}/complete` */
  complete(replId: string, input: ReplCompletionInput, options: RequestOptions = {}): Promise<ReplCompletion> {
    return this.caller.one("POST", path`/v1/repl/${replId}/complete`, options, { body: input })
  }

  /** Close a session with its variables, also while it evaluates an input. `DELETE /v1/repl/{repl_id}` */
  close(replId: string, options: RequestOptions = {}): Promise<void> {
    return this.caller.none("DELETE", path`/v1/repl/${replId}`, options)
  }
}
