/** Sessions of the calling API key. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError, PermissionEscalationError, SessionLimitExceededError } from "../errors/ErrorSchemas.ts"
import { CreatedSessionRecord, RevokedRecord, SessionInput, SessionRecord } from "../records/AccessRecords.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { summary, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"

export const RevokedResponse = Single("RevokedResponse", RevokedRecord)

export class SessionsApi extends HttpApiGroup.make("sessions")
  .add(
    HttpApiEndpoint.post("create", "/v1/sessions", {
      payload: SessionInput,
      success: Single("CreatedSessionResponse", CreatedSessionRecord).pipe(HttpApiSchema.status(201)),
      error: [PermissionEscalationError, SessionLimitExceededError]
    }).annotateMerge(summary("Create a session; only this answer holds its token")),
    HttpApiEndpoint.get("list", "/v1/sessions", {
      query: pageQuery,
      success: List("SessionList", SessionRecord)
    }).annotateMerge(summary("List the active sessions of the calling API key, newest first")),
    HttpApiEndpoint.delete("revoke", "/v1/sessions/:session_id", {
      params: { session_id: Schema.String },
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    }).annotateMerge(summary("Revoke a session of the calling API key")),
    HttpApiEndpoint.delete("revokeAll", "/v1/sessions", { success: RevokedResponse }).annotateMerge(
      summary("Revoke all active sessions of the calling API key")
    )
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Sessions", "Short-lived credentials, which only API keys hand out")) {}
