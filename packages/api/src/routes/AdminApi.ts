/** Routes of the host: organizations, environments, API keys (decisions section 7). */
import { EnvId, PlanName } from "@weft/core"
import { ApiKeyId } from "@weft/core/adapter"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { secretResponse } from "../access/SecretResponse.ts"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError } from "../errors/ErrorSchemas.ts"
import { example, examplePermissions } from "../openapi/FieldExample.ts"
import { ResealedRecord } from "../records/ContextRecords.ts"
import { ApiKeyRecord, CreatedApiKeyRecord, EnvRecord, OrgRecord } from "../records/Records.ts"
import { pathId } from "../records/Uuid.ts"
import { AuditEntryList, auditQuery } from "./AuditApi.ts"
import { AdminAuthenticated } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"
import { EnvResponse } from "./EnvApi.ts"
import { operatorEndpoints } from "./OperatorEndpoints.ts"
import { pageQuery } from "./PageQuery.ts"

/** `org` is an id or a slug. */
const orgParams = { org: example(Schema.String, "acme") }
const envParams = { env_id: pathId(EnvId) }
const keyParams = { ...envParams, api_key_id: pathId(ApiKeyId) }

/** A misspelled field of a change would have no effect, without a sign of it. */
const rejectUnknownFields = { onExcessProperty: "error" } as const

const OrgResponse = Single("OrganizationResponse", OrgRecord)

/** Any JSON: the service checks it, with the messages of the specification. */
const permissions = Schema.optionalKey(
  Schema.Json.annotate({ description: "Permission map; full access by default", examples: [examplePermissions] })
)

const orgEndpoints = [
  HttpApiEndpoint.get("listOrgs", "/admin/orgs", {
    query: pageQuery,
    success: List("OrganizationList", OrgRecord)
  }).annotateMerge(extension("List organizations, newest first")),
  HttpApiEndpoint.post("createOrg", "/admin/orgs", {
    payload: Schema.Struct({
      slug: example(Schema.String, "acme"),
      name: example(Schema.optionalKey(Schema.String), "Acme"),
      plan: example(Schema.optionalKey(PlanName), "Pro")
    }).annotate({ identifier: "OrganizationInput" }),
    success: OrgResponse.pipe(HttpApiSchema.status(201))
  }).annotateMerge(extension("Create an organization")),
  HttpApiEndpoint.patch("updateOrg", "/admin/orgs/:org", {
    params: orgParams,
    payload: Schema.Struct({
      name: example(Schema.optionalKey(Schema.String), "Acme"),
      plan: example(Schema.optionalKey(PlanName), "Pro"),
      members: example(Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))), 3)
    }).annotate({ identifier: "OrganizationChange" }),
    success: OrgResponse,
    error: NotFoundError
  })
    .annotate(HttpApi.PayloadParseOptions, rejectUnknownFields)
    .annotateMerge(extension("Change an organization")),
  HttpApiEndpoint.get("listEnvs", "/admin/orgs/:org/envs", {
    params: orgParams,
    query: pageQuery,
    success: List("EnvironmentList", EnvRecord),
    error: NotFoundError
  }).annotateMerge(extension("List the environments of an organization, newest first")),
  HttpApiEndpoint.post("createEnv", "/admin/orgs/:org/envs", {
    params: orgParams,
    payload: Schema.Struct({ name: example(Schema.String, "production") }).annotate({ identifier: "EnvironmentInput" }),
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
    payload: Schema.Struct({ name: example(Schema.optionalKey(Schema.String), "publisher"), permissions }).annotate({
      identifier: "ApiKeyInput"
    }),
    success: Single("CreatedApiKeyResponse", CreatedApiKeyRecord).pipe(HttpApiSchema.status(201)),
    error: NotFoundError
  })
    .annotateMerge(extension("Create an API key; only this response contains its token"))
    .annotateMerge(secretResponse),
  HttpApiEndpoint.patch("updateApiKey", "/admin/envs/:env_id/api-keys/:api_key_id", {
    params: keyParams,
    payload: Schema.Struct({
      enabled: Schema.optionalKey(Schema.Boolean),
      name: example(Schema.optionalKey(Schema.String), "publisher"),
      permissions
    }).annotate({ identifier: "ApiKeyChange" }),
    success: Single("ApiKeyResponse", ApiKeyRecord),
    error: NotFoundError
  })
    .annotate(HttpApi.PayloadParseOptions, rejectUnknownFields)
    .annotateMerge(extension("Change an API key")),
  HttpApiEndpoint.delete("removeApiKey", "/admin/envs/:env_id/api-keys/:api_key_id", {
    params: keyParams,
    success: HttpApiSchema.NoContent,
    error: NotFoundError
  }).annotateMerge(extension("Delete an API key"))
] as const

const secretEndpoints = [
  HttpApiEndpoint.post("resealSecrets", "/admin/secrets/reseal", {
    success: Single("ResealedResponse", ResealedRecord)
  }).annotateMerge(extension("Encrypt all secrets of previous master keys again with the current master key"))
] as const

const auditEndpoints = [
  HttpApiEndpoint.get("listAudit", "/admin/audit", {
    query: {
      ...auditQuery,
      env_id: Schema.optionalKey(EnvId.annotate({ description: "Only entries of this environment" }))
    },
    success: AuditEntryList
  }).annotateMerge(extension("List the audit log of all environments, newest first"))
] as const

export class AdminApi extends HttpApiGroup.make("admin")
  .add(...orgEndpoints, ...keyEndpoints, ...secretEndpoints, ...auditEndpoints, ...operatorEndpoints)
  .middleware(AdminAuthenticated)
  .annotateMerge(tag("Administration", "Routes of the host, with its admin token")) {}
