/** The host's own routes: organizations, environments, API keys (decisions section 7). */
import { EnvId, PlanName } from "@weft/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError } from "../errors/ErrorSchemas.ts"
import { ResealedRecord } from "../records/ContextRecords.ts"
import { ApiKeyRecord, CreatedApiKeyRecord, EnvRecord, OrgRecord } from "../records/Records.ts"
import { AuditEntryList, auditQuery } from "./AuditApi.ts"
import { AdminAuthenticated } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"
import { EnvResponse } from "./EnvApi.ts"
import { pageQuery } from "./PageQuery.ts"

/** An organization is named by its id or its slug. */
const orgParams = { org: Schema.String }
const envParams = { env_id: Schema.String }
const keyParams = { ...envParams, api_key_id: Schema.String }

const OrgResponse = Single("OrganizationResponse", OrgRecord)

/** Checked by the service, whose messages use the words of the specification. */
const permissions = Schema.optionalKey(Schema.Json.annotate({ description: "Permission map; none: full access" }))

const orgEndpoints = [
  HttpApiEndpoint.get("listOrgs", "/admin/orgs", {
    query: pageQuery,
    success: List("OrganizationList", OrgRecord)
  }).annotateMerge(extension("List organizations, newest first")),
  HttpApiEndpoint.post("createOrg", "/admin/orgs", {
    payload: Schema.Struct({
      slug: Schema.String,
      name: Schema.optionalKey(Schema.String),
      plan: Schema.optionalKey(PlanName)
    }).annotate({ identifier: "OrganizationInput" }),
    success: OrgResponse.pipe(HttpApiSchema.status(201))
  }).annotateMerge(extension("Create an organization")),
  HttpApiEndpoint.patch("updateOrg", "/admin/orgs/:org", {
    params: orgParams,
    payload: Schema.Struct({
      name: Schema.optionalKey(Schema.String),
      plan: Schema.optionalKey(PlanName),
      members: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))
    }).annotate({ identifier: "OrganizationChange" }),
    success: OrgResponse,
    error: NotFoundError
  }).annotateMerge(extension("Change an organization")),
  HttpApiEndpoint.get("listEnvs", "/admin/orgs/:org/envs", {
    params: orgParams,
    query: pageQuery,
    success: List("EnvironmentList", EnvRecord),
    error: NotFoundError
  }).annotateMerge(extension("List the environments of an organization, newest first")),
  HttpApiEndpoint.post("createEnv", "/admin/orgs/:org/envs", {
    params: orgParams,
    payload: Schema.Struct({ name: Schema.String }).annotate({ identifier: "EnvironmentInput" }),
    success: EnvResponse.pipe(HttpApiSchema.status(201)),
    error: NotFoundError
  }).annotateMerge(extension("Create an environment"))
] as const

const keyEndpoints = [
  HttpApiEndpoint.get("listApiKeys", "/admin/envs/:env_id/api-keys", {
    params: envParams,
    query: pageQuery,
    success: List("ApiKeyList", ApiKeyRecord),
    error: NotFoundError
  }).annotateMerge(extension("List the API keys of an environment, newest first")),
  HttpApiEndpoint.post("createApiKey", "/admin/envs/:env_id/api-keys", {
    params: envParams,
    payload: Schema.Struct({ name: Schema.optionalKey(Schema.String), permissions }).annotate({
      identifier: "ApiKeyInput"
    }),
    success: Single("CreatedApiKeyResponse", CreatedApiKeyRecord).pipe(HttpApiSchema.status(201)),
    error: NotFoundError
  }).annotateMerge(extension("Create an API key; only this answer holds its token")),
  HttpApiEndpoint.patch("updateApiKey", "/admin/envs/:env_id/api-keys/:api_key_id", {
    params: keyParams,
    payload: Schema.Struct({
      enabled: Schema.optionalKey(Schema.Boolean),
      name: Schema.optionalKey(Schema.String),
      permissions
    }).annotate({ identifier: "ApiKeyChange" }),
    success: Single("ApiKeyResponse", ApiKeyRecord),
    error: NotFoundError
  }).annotateMerge(extension("Change an API key")),
  HttpApiEndpoint.delete("removeApiKey", "/admin/envs/:env_id/api-keys/:api_key_id", {
    params: keyParams,
    success: HttpApiSchema.NoContent,
    error: NotFoundError
  }).annotateMerge(extension("Delete an API key"))
] as const

const secretEndpoints = [
  HttpApiEndpoint.post("resealSecrets", "/admin/secrets/reseal", {
    success: Single("ResealedResponse", ResealedRecord)
  }).annotateMerge(extension("Seal everything anew that a former master key sealed"))
] as const

const auditEndpoints = [
  HttpApiEndpoint.get("listAudit", "/admin/audit", {
    query: {
      ...auditQuery,
      env_id: Schema.optionalKey(EnvId.annotate({ description: "Only the log of this environment" }))
    },
    success: AuditEntryList
  }).annotateMerge(extension("List the audit log of everything, newest first"))
] as const

export class AdminApi extends HttpApiGroup.make("admin")
  .add(...orgEndpoints, ...keyEndpoints, ...secretEndpoints, ...auditEndpoints)
  .middleware(AdminAuthenticated)
  .annotateMerge(tag("Administration", "The host's own routes, with its admin token")) {}
