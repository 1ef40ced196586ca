/** The environment that the credential belongs to, and its organization. */
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { Single } from "../envelope/Envelope.ts"
import { NotFoundError } from "../errors/ErrorSchemas.ts"
import { EnvRecord, OwnEnvRecord } from "../records/Records.ts"
import { OrgUsageRecord } from "../records/UsageRecords.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { summary, tag } from "./Documentation.ts"

export const EnvResponse = Single("EnvironmentResponse", EnvRecord)

const OwnEnvResponse = Single("OwnEnvironmentResponse", OwnEnvRecord)

export const OrgUsageResponse = Single("OrganizationUsageResponse", OrgUsageRecord)

export class EnvApi extends HttpApiGroup.make("env")
  .add(
    HttpApiEndpoint.get("get", "/v1/env", { success: OwnEnvResponse, error: NotFoundError })
      .annotateMerge(summary("Get the environment of the credential"))
      .annotateMerge(requires({ type: "env", action: "read", on: "resource" })),
    HttpApiEndpoint.get("usage", "/v1/org/usage", { success: OrgUsageResponse, error: NotFoundError })
      .annotateMerge(summary("Get the usage of the organization and the limits of its plan"))
      .annotateMerge(requires({ type: "env", action: "read", on: "resource" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Environment", "The environment and organization of the credential")) {}
