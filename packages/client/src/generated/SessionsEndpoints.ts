/** The methods of `sessions`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { PageQuery, Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type { SessionInput } from "./Inputs.ts"
import type { CreatedSession, Revoked, Session } from "./Records.ts"

export class SessionsEndpoints extends Endpoints {
  /** Create a session; only this response contains its token. `POST /v1/sessions` */
  create(input: SessionInput, options: RequestOptions = {}): Promise<CreatedSession> {
    return this.caller.one("POST", "/v1/sessions", options, { body: input })
  }

  /** List the active sessions of the calling API key, newest first. `GET /v1/sessions` */
  list(query: PageQuery = {}, options: RequestOptions = {}): Pages<Session> {
    return this.caller.list("/v1/sessions", options, query)
  }

  /** Revoke a session of the calling API key. `DELETE /v1/sessions/{session_id}` */
  revoke(sessionId: string, options: RequestOptions = {}): Promise<void> {
    return this.caller.none("DELETE", path`/v1/sessions/${sessionId}`, options)
  }

  /** Revoke all active sessions of the calling API key. `DELETE /v1/sessions` */
  revokeAll(options: RequestOptions = {}): Promise<Revoked> {
    return this.caller.one("DELETE", "/v1/sessions", options)
  }
}
