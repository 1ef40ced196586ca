/** Endpoints of the host about the installation: plans, usage, the nodes, the checks of one, and quarantines. */
import { EnvId } from "@weft/core"
import { BuildId } from "@weft/core/adapter"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError } from "../errors/ErrorSchemas.ts"
import { example } from "../openapi/FieldExample.ts"
import { DiagnosisRecord, NodeRecord, NodeSummaryRecord, PlanRecord } from "../records/OperatorRecords.ts"
import { OrgRecord } from "../records/Records.ts"
import { pathId } from "../records/Uuid.ts"
import { extension } from "./Documentation.ts"
import { OrgUsageResponse } from "./EnvApi.ts"
import { pageQuery } from "./PageQuery.ts"

export const operatorEndpoints = [
  HttpApiEndpoint.get("listPlans", "/admin/plans", {
    query: pageQuery,
    success: List("PlanList", PlanRecord)
  }).annotateMerge(extension("List the plans of the server with their limits")),
  HttpApiEndpoint.get("getOrgUsage", "/admin/orgs/:org/usage", {
    params: { org: example(OrgRecord.fields.slug, "acme") },
    success: OrgUsageResponse,
    error: NotFoundError
  }).annotateMerge(extension("Get the usage of an organization and the limits of its plan")),
  HttpApiEndpoint.get("listNodes", "/admin/nodes", {
    query: pageQuery,
    success: List("NodeList", NodeSummaryRecord)
  }).annotateMerge(extension("List the nodes that answer within half a second")),
  HttpApiEndpoint.get("getNode", "/admin/node", {
    success: Single("NodeResponse", NodeRecord)
  }).annotateMerge(extension("Get the version, the start time and the metrics of the node that answers the request")),
  HttpApiEndpoint.get("getDiagnosis", "/admin/diagnosis", {
    success: Single("DiagnosisResponse", DiagnosisRecord)
  }).annotateMerge(extension("Check the database, the blob store, the sandbox and the settings of the node")),
  HttpApiEndpoint.post("releaseBuild", "/admin/envs/:env_id/builds/:build_id/release", {
    params: { env_id: pathId(EnvId), build_id: pathId(BuildId) },
    success: HttpApiSchema.NoContent,
    error: NotFoundError
  }).annotateMerge(extension("Lift the quarantine of a build on every node"))
] as const
