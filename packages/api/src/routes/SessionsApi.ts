/** Sessions of the calling API key. */
import { SessionId } from "@weft/core/adapter"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { secretResponse } from "../access/SecretResponse.ts"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError, PermissionEscalationError, SessionLimitExceededError } from "../errors/ErrorSchemas.ts"
import { CreatedSessionRecord, RevokedRecord, SessionInput, SessionRecord } from "../records/AccessRecords.ts"
import { pathId } from "../records/Uuid.ts"
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
    })
      .annotateMerge(summary("Create a session; only this response contains its token"))
      .annotateMerge(secretResponse)
      .annotateMerge(
        requires({ type: "session", action: "create", on: "resource", callers: "api-key", audit: "session.create" })
      ),
    HttpApiEndpoint.get("list", "/v1/sessions", {
      query: pageQuery,
      success: List("SessionList", SessionRecord)
    })
      .annotateMerge(summary("List the active sessions of the calling API key, newest first"))
      .annotateMerge(requires({ type: "session", action: "read", on: "resource", callers: "api-key" })),
    HttpApiEndpoint.delete("revoke", "/v1/sessions/:session_id", {
      params: { session_id: pathId(SessionId) },
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    })
      .annotateMerge(summary("Revoke a session of the calling API key"))
      .annotateMerge(
        requires({ type: "session", action: "delete", on: "resource", callers: "api-key", audit: "session.revoke" })
      ),
    HttpApiEndpoint.delete("revokeAll", "/v1/sessions", { success: RevokedResponse })
      .annotateMerge(summary("Revoke all active sessions of the calling API key"))
      .annotateMerge(
        requires({ type: "session", action: "delete", on: "resource", callers: "api-key", audit: "session.revoke_all" })
      )
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Sessions", "Short-lived credentials, which only API keys create")) {}
