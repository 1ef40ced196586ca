/** Endpoints of projects. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError } from "../errors/ErrorSchemas.ts"
import { example } from "../openapi/FieldExample.ts"
import { ProjectRecord } from "../records/Records.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { summary, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"

/** The parameter is the id or the name of a project. */
export const projectParams = { project_id_or_slug: example(Schema.String, "orders") }

const ProjectResponse = Single("ProjectResponse", ProjectRecord)

const ProjectName = Schema.Struct({ name: example(Schema.String, "orders") }).annotate({ identifier: "ProjectInput" })

export class ProjectsApi extends HttpApiGroup.make("projects")
  .add(
    HttpApiEndpoint.get("list", "/v1/projects", {
      query: pageQuery,
      success: List("ProjectList", ProjectRecord)
    })
      .annotateMerge(summary("List projects, newest first"))
      .annotateMerge(requires({ type: "project", action: "read", on: "resource" })),
    HttpApiEndpoint.post("create", "/v1/projects", {
      payload: ProjectName,
      success: ProjectResponse.pipe(HttpApiSchema.status(201))
    })
      .annotateMerge(summary("Create a project"))
      .annotateMerge(requires({ type: "project", action: "create", on: "body" })),
    HttpApiEndpoint.get("get", "/v1/projects/:project_id_or_slug", {
      params: projectParams,
      success: ProjectResponse,
      error: NotFoundError
    })
      .annotateMerge(summary("Get a project"))
      .annotateMerge(requires({ type: "project", action: "read", on: "project" })),
    HttpApiEndpoint.patch("update", "/v1/projects/:project_id_or_slug", {
      params: projectParams,
      payload: ProjectName,
      success: ProjectResponse,
      error: NotFoundError
    })
      .annotateMerge(summary("Rename a project"))
      .annotateMerge(requires({ type: "project", action: "update", on: "project" })),
    HttpApiEndpoint.delete("remove", "/v1/projects/:project_id_or_slug", {
      params: projectParams,
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    })
      .annotateMerge(summary("Delete a project with its builds"))
      .annotateMerge(requires({ type: "project", action: "delete", on: "project", audit: "project.remove" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Projects", "Named bodies of code, with builds, secrets and schedules")) {}
