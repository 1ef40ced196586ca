/** Service keys of the calling API key. */
import { ServiceKeyId } from "@weft/core/adapter"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { secretResponse } from "../access/SecretResponse.ts"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError, PermissionEscalationError } from "../errors/ErrorSchemas.ts"
import { CreatedServiceKeyRecord, ServiceKeyInput, ServiceKeyRecord } from "../records/AccessRecords.ts"
import { pathId } from "../records/Uuid.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { summary, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"
import { RevokedResponse } from "./SessionsApi.ts"

const keyParams = { service_key_id: pathId(ServiceKeyId) }

export class ServiceKeysApi extends HttpApiGroup.make("serviceKeys")
  .add(
    HttpApiEndpoint.post("create", "/v1/service-keys", {
      payload: ServiceKeyInput,
      success: Single("CreatedServiceKeyResponse", CreatedServiceKeyRecord).pipe(HttpApiSchema.status(201)),
      error: PermissionEscalationError
    })
      .annotateMerge(summary("Create a service key; only this response contains its token"))
      .annotateMerge(secretResponse)
      .annotateMerge(
        requires({ type: "key", action: "create", on: "resource", callers: "api-key", audit: "service_key.create" })
      ),
    HttpApiEndpoint.get("list", "/v1/service-keys", {
      query: pageQuery,
      success: List("ServiceKeyList", ServiceKeyRecord)
    })
      .annotateMerge(summary("List the service keys of the calling API key, including revoked and expired ones"))
      .annotateMerge(requires({ type: "key", action: "read", on: "resource", callers: "api-key" })),
    HttpApiEndpoint.get("get", "/v1/service-keys/:service_key_id", {
      params: keyParams,
      success: Single("ServiceKeyResponse", ServiceKeyRecord),
      error: NotFoundError
    })
      .annotateMerge(summary("Get a service key of the calling API key"))
      .annotateMerge(requires({ type: "key", action: "read", on: "resource", callers: "api-key" })),
    HttpApiEndpoint.delete("revoke", "/v1/service-keys/:service_key_id", {
      params: keyParams,
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    })
      .annotateMerge(summary("Revoke a service key of the calling API key"))
      .annotateMerge(
        requires({ type: "key", action: "delete", on: "resource", callers: "api-key", audit: "service_key.revoke" })
      ),
    HttpApiEndpoint.delete("revokeAll", "/v1/service-keys", { success: RevokedResponse })
      .annotateMerge(summary("Revoke all active service keys of the calling API key"))
      .annotateMerge(
        requires({ type: "key", action: "delete", on: "resource", callers: "api-key", audit: "service_key.revoke_all" })
      )
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Service keys", "Long-lived credentials, which only API keys create")) {}
