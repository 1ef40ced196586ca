/** The methods of `admin`. Generated from the definition of the API: `npm run generate -w packages/client`. */

import type { PageQuery, Pages } from "../Pages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path } from "../transport/Path.ts"
import type {
  AdminListAuditQuery,
  ApiKeyChange,
  ApiKeyInput,
  EnvironmentInput,
  OrganizationChange,
  OrganizationInput
} from "./Inputs.ts"
import type {
  ApiKey,
  AuditEntry,
  CreatedApiKey,
  Diagnosis,
  Environment,
  NodeStatus,
  NodeSummary,
  Organization,
  OrganizationUsage,
  Plan,
  Resealed
} from "./Records.ts"

export class AdminEndpoints extends Endpoints {
  /** List organizations, newest first. `GET /admin/orgs` */
  listOrgs(query: PageQuery = {}, options: RequestOptions = {}): Pages<Organization> {
    return this.caller.list("/admin/orgs", options, query)
  }

  /** Create an organization. `POST /admin/orgs` */
  createOrg(input: OrganizationInput, options: RequestOptions = {}): Promise<Organization> {
    return this.caller.one("POST", "/admin/orgs", options, { body: input })
  }

  /** Change an organization. `PATCH /admin/orgs/{org}` */
  updateOrg(org: string, input: OrganizationChange = {}, options: RequestOptions = {}): Promise<Organization> {
    return this.caller.one("PATCH", path`/admin/orgs/${org}`, options, { body: input })
  }

  /** List the environments of an organization, newest first. `GET /admin/orgs/{org}/envs` */
  listEnvs(org: string, query: PageQuery = {}, options: RequestOptions = {}): Pages<Environment> {
    return this.caller.list(path`/admin/orgs/${org}/envs`, options, query)
  }

  /** Create an environment. `POST /admin/orgs/{org}/envs` */
  createEnv(org: string, input: EnvironmentInput, options: RequestOptions = {}): Promise<Environment> {
    return this.caller.one("POST", path`/admin/orgs/${org}/envs`, options, { body: input })
  }

  /** List the API keys of an environment, newest first. `GET /admin/envs/{env_id}/api-keys` */
  listApiKeys(envId: string, query: PageQuery = {}, options: RequestOptions = {}): Pages<ApiKey> {
    return this.caller.list(path`/admin/envs/${envId}/api-keys`, options, query)
  }

  /** Create an API key; only this response contains its token. `POST /admin/envs/{env_id}/api-keys` */
  createApiKey(envId: string, input: ApiKeyInput = {}, options: RequestOptions = {}): Promise<CreatedApiKey> {
    return this.caller.one("POST", path`/admin/envs/${envId}/api-keys`, options, { body: input })
  }

  /** Change an API key. `PATCH /admin/envs/{env_id}/api-keys/{api_key_id}` */
  updateApiKey(
    envId: string,
    apiKeyId: string,
    input: ApiKeyChange = {},
    options: RequestOptions = {}
  ): Promise<ApiKey> {
    return this.caller.one("PATCH", path`/admin/envs/${envId}/api-keys/${apiKeyId}`, options, { body: input })
  }

  /** Delete an API key. `DELETE /admin/envs/{env_id}/api-keys/{api_key_id}` */
  removeApiKey(envId: string, apiKeyId: string, options: RequestOptions = {}): Promise<void> {
    return this.caller.none("DELETE", path`/admin/envs/${envId}/api-keys/${apiKeyId}`, options)
  }

  /** Encrypt all secrets of previous master keys again with the current master key. `POST /admin/secrets/reseal` */
  resealSecrets(options: RequestOptions = {}): Promise<Resealed> {
    return this.caller.one("POST", "/admin/secrets/reseal", options)
  }

  /** List the audit log of all environments, newest first. `GET /admin/audit` */
  listAudit(query: AdminListAuditQuery = {}, options: RequestOptions = {}): Pages<AuditEntry> {
    return this.caller.list("/admin/audit", options, query)
  }

  /** List the plans of the server with their limits. `GET /admin/plans` */
  listPlans(query: PageQuery = {}, options: RequestOptions = {}): Pages<Plan> {
    return this.caller.list("/admin/plans", options, query)
  }

  /** Get the usage of an organization and the limits of its plan. `GET /admin/orgs/{org}/usage` */
  getOrgUsage(org: string, options: RequestOptions = {}): Promise<OrganizationUsage> {
    return this.caller.one("GET", path`/admin/orgs/${org}/usage`, options)
  }

  /** List the nodes that answer within half a second. `GET /admin/nodes` */
  listNodes(query: PageQuery = {}, options: RequestOptions = {}): Pages<NodeSummary> {
    return this.caller.list("/admin/nodes", options, query)
  }

  /** Get the version, the start time and the metrics of the node that answers the request. `GET /admin/node` */
  getNode(options: RequestOptions = {}): Promise<NodeStatus> {
    return this.caller.one("GET", "/admin/node", options)
  }

  /** Check the database, the blob store, the sandbox and the settings of the node. `GET /admin/diagnosis` */
  getDiagnosis(options: RequestOptions = {}): Promise<Diagnosis> {
    return this.caller.one("GET", "/admin/diagnosis", options)
  }

  /** Lift the quarantine of a build on every node. `POST /admin/envs/{env_id}/builds/{build_id}/release` */
  releaseBuild(envId: string, buildId: string, options: RequestOptions = {}): Promise<void> {
    return this.caller.none("POST", path`/admin/envs/${envId}/builds/${buildId}/release`, options)
  }
}
