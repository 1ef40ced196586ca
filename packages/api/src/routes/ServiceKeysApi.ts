/** Service keys of the calling API key. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError, PermissionEscalationError } from "../errors/ErrorSchemas.ts"
import { CreatedServiceKeyRecord, ServiceKeyInput, ServiceKeyRecord } from "../records/AccessRecords.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { summary, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"
import { RevokedResponse } from "./SessionsApi.ts"

const keyParams = { service_key_id: Schema.String }

export class ServiceKeysApi extends HttpApiGroup.make("serviceKeys")
  .add(
    HttpApiEndpoint.post("create", "/v1/service-keys", {
      payload: ServiceKeyInput,
      success: Single("CreatedServiceKeyResponse", CreatedServiceKeyRecord).pipe(HttpApiSchema.status(201)),
      error: PermissionEscalationError
    }).annotateMerge(summary("Create a service key; only this answer holds its token")),
    HttpApiEndpoint.get("list", "/v1/service-keys", {
      query: pageQuery,
      success: List("ServiceKeyList", ServiceKeyRecord)
    }).annotateMerge(summary("List the service keys of the calling API key, also revoked and expired ones")),
    HttpApiEndpoint.get("get", "/v1/service-keys/:service_key_id", {
      params: keyParams,
      success: Single("ServiceKeyResponse", ServiceKeyRecord),
      error: NotFoundError
    }).annotateMerge(summary("Get a service key of the calling API key")),
    HttpApiEndpoint.delete("revoke", "/v1/service-keys/:service_key_id", {
      params: keyParams,
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    }).annotateMerge(summary("Revoke a service key of the calling API key")),
    HttpApiEndpoint.delete("revokeAll", "/v1/service-keys", { success: RevokedResponse }).annotateMerge(
      summary("Revoke all active service keys of the calling API key")
    )
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Service keys", "Long-lived credentials, which only API keys hand out")) {}
