/** Previews of projects. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { List, Single } from "../envelope/Envelope.ts"
import {
  ContentDamagedError,
  DeploymentRefusedError,
  NotFoundError,
  PlanRequiredError
} from "../errors/ErrorSchemas.ts"
import { example } from "../openapi/FieldExample.ts"
import { PreviewExtension, PreviewInput, PreviewRecord } from "../records/PreviewRecords.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"
import { projectParams } from "./ProjectsApi.ts"

const previewParams = { ...projectParams, preview: example(Schema.String, "pr-42") }

const PreviewResponse = Single("PreviewResponse", PreviewRecord)

export class PreviewsApi extends HttpApiGroup.make("previews")
  .add(
    HttpApiEndpoint.get("list", "/v1/projects/:project_id_or_slug/previews", {
      params: projectParams,
      query: pageQuery,
      success: List("PreviewList", PreviewRecord),
      error: NotFoundError
    })
      .annotateMerge(extension("List the previews of a project, newest first"))
      .annotateMerge(requires({ type: "build", action: "read", on: "project" })),
    HttpApiEndpoint.get("get", "/v1/projects/:project_id_or_slug/previews/:preview", {
      params: previewParams,
      success: PreviewResponse,
      error: NotFoundError
    })
      .annotateMerge(extension("Get a preview"))
      .annotateMerge(requires({ type: "build", action: "read", on: "project" })),
    HttpApiEndpoint.put("deploy", "/v1/projects/:project_id_or_slug/previews/:preview", {
      params: previewParams,
      payload: PreviewInput,
      success: PreviewResponse,
      error: [NotFoundError, DeploymentRefusedError, PlanRequiredError, ContentDamagedError]
    })
      .annotateMerge(
        extension(
          "Deploy a build to the preview of this name, an isolated copy of the project with its own URL. Creates the preview if it does not exist. It expires after `ttl` from now"
        )
      )
      .annotateMerge(requires({ type: "build", action: "execute", on: "project", audit: "preview.create" })),
    HttpApiEndpoint.patch("extend", "/v1/projects/:project_id_or_slug/previews/:preview", {
      params: previewParams,
      payload: PreviewExtension,
      success: PreviewResponse,
      error: NotFoundError
    })
      .annotateMerge(extension("Change the time until the removal of a preview, from now"))
      .annotateMerge(requires({ type: "build", action: "execute", on: "project", audit: "preview.update" })),
    HttpApiEndpoint.delete("remove", "/v1/projects/:project_id_or_slug/previews/:preview", {
      params: previewParams,
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    })
      .annotateMerge(
        extension("Remove a preview: its triggers stop, its running runs are cancelled, and its data is deleted")
      )
      .annotateMerge(requires({ type: "build", action: "execute", on: "project", audit: "preview.remove" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(
    tag("Previews", "Isolated copies of projects with their own URLs, which are removed after their time")
  ) {}
