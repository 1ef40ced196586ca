/** The canary of a project. A deployment with `canary` starts it. */
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { Single } from "../envelope/Envelope.ts"
import { NotFoundError } from "../errors/ErrorSchemas.ts"
import { CanaryRecord } from "../records/CanaryRecords.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"
import { projectParams } from "./ProjectsApi.ts"

const CanaryResponse = Single("CanaryResponse", CanaryRecord)

export class CanariesApi extends HttpApiGroup.make("canaries")
  .add(
    HttpApiEndpoint.get("get", "/v1/projects/:project_id_or_slug/canary", {
      params: projectParams,
      success: CanaryResponse,
      error: NotFoundError
    })
      .annotateMerge(extension("Get the latest canary of a project, active or ended, with the counts of both builds"))
      .annotateMerge(requires({ type: "build", action: "read", on: "project" })),
    HttpApiEndpoint.post("promote", "/v1/projects/:project_id_or_slug/canary/promote", {
      params: projectParams,
      success: CanaryResponse,
      error: NotFoundError
    })
      .annotateMerge(extension("Make the active canary the deployed build, whatever its rules say"))
      .annotateMerge(requires({ type: "build", action: "execute", on: "project", audit: "canary.promote" })),
    HttpApiEndpoint.post("rollback", "/v1/projects/:project_id_or_slug/canary/rollback", {
      params: projectParams,
      success: CanaryResponse,
      error: NotFoundError
    })
      .annotateMerge(
        extension("End the active canary: the deployed build gets all events and calls again, and the canary's retries")
      )
      .annotateMerge(requires({ type: "build", action: "execute", on: "project", audit: "canary.rollback" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Canaries", "Builds that get a share of the events and calls of a project")) {}
