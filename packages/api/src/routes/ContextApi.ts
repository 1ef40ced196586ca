/** Context variables: the secrets of a project. No endpoint returns their values. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError } from "../errors/ErrorSchemas.ts"
import { example } from "../openapi/FieldExample.ts"
import { ContextVariableRecord } from "../records/ContextRecords.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { summary, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"
import { projectParams } from "./ProjectsApi.ts"

const key = example(Schema.String, "STRIPE_KEY")

const variables = "/v1/projects/:project_id_or_slug/context"
const variableParams = { ...projectParams, key }

const ContextVariableResponse = Single("ContextVariableResponse", ContextVariableRecord)

const value = Schema.String.annotate({
  description: "At most 65536 bytes as UTF-8",
  writeOnly: true,
  examples: ["sk_live_…"]
})
const description = Schema.optionalKey(
  Schema.String.annotate({ description: "At most 1024 characters", examples: ["For payments"] })
)

export class ContextApi extends HttpApiGroup.make("context")
  .add(
    HttpApiEndpoint.get("list", variables, {
      params: projectParams,
      query: pageQuery,
      success: List("ContextVariableList", ContextVariableRecord),
      error: NotFoundError
    })
      .annotateMerge(summary("List the context variables of a project, by key, without their values"))
      .annotateMerge(requires({ type: "context", action: "read", on: "project" })),
    HttpApiEndpoint.post("create", variables, {
      params: projectParams,
      payload: Schema.Struct({ key, value, description }).annotate({
        identifier: "ContextVariableInput"
      }),
      success: ContextVariableResponse.pipe(HttpApiSchema.status(201)),
      error: NotFoundError
    })
      .annotateMerge(summary("Create a context variable"))
      .annotateMerge(requires({ type: "context", action: "create", on: "project", audit: "context.create" })),
    HttpApiEndpoint.put("update", `${variables}/:key`, {
      params: variableParams,
      payload: Schema.Struct({ value: Schema.optionalKey(value), description }).annotate({
        identifier: "ContextVariableChange"
      }),
      success: ContextVariableResponse,
      error: NotFoundError
    })
      .annotateMerge(summary("Change the value of a context variable, its description, or both"))
      .annotateMerge(requires({ type: "context", action: "update", on: "project", audit: "context.update" })),
    HttpApiEndpoint.delete("remove", `${variables}/:key`, {
      params: variableParams,
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    })
      .annotateMerge(summary("Delete a context variable"))
      .annotateMerge(requires({ type: "context", action: "delete", on: "project", audit: "context.remove" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Context variables", "The secrets of a project, which its functions read")) {}
