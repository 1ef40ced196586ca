/** Projects. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError } from "../errors/ErrorSchemas.ts"
import { ProjectRecord } from "../records/Records.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { summary, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"

/** A project is named by its id or its name. */
export const projectParams = { project_id_or_slug: Schema.String }

const ProjectResponse = Single("ProjectResponse", ProjectRecord)

const ProjectName = Schema.Struct({ name: Schema.String }).annotate({ identifier: "ProjectInput" })

export class ProjectsApi extends HttpApiGroup.make("projects")
  .add(
    HttpApiEndpoint.get("list", "/v1/projects", {
      query: pageQuery,
      success: List("ProjectList", ProjectRecord)
    }).annotateMerge(summary("List projects, newest first")),
    HttpApiEndpoint.post("create", "/v1/projects", {
      payload: ProjectName,
      success: ProjectResponse.pipe(HttpApiSchema.status(201))
    }).annotateMerge(summary("Create a project")),
    HttpApiEndpoint.get("get", "/v1/projects/:project_id_or_slug", {
      params: projectParams,
      success: ProjectResponse,
      error: NotFoundError
    }).annotateMerge(summary("Get a project")),
    HttpApiEndpoint.patch("update", "/v1/projects/:project_id_or_slug", {
      params: projectParams,
      payload: ProjectName,
      success: ProjectResponse,
      error: NotFoundError
    }).annotateMerge(summary("Rename a project")),
    HttpApiEndpoint.delete("remove", "/v1/projects/:project_id_or_slug", {
      params: projectParams,
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    }).annotateMerge(summary("Delete a project with its builds"))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Projects", "What builds belong to")) {}
