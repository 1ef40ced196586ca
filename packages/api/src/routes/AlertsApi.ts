/** Alert rules about functions, projects and the environment. */
import { AlertId } from "@weft/core/adapter"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError, PlanRequiredError } from "../errors/ErrorSchemas.ts"
import {
  AlertChangeRecord,
  AlertRecord,
  AlertTestRecord,
  AlertWithSecretRecord,
  NewAlertRecord
} from "../records/AlertRecords.ts"
import { pathId } from "../records/Uuid.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"

const params = { alert_id: pathId(AlertId) }
const withSecret = Single("AlertWithSecretResponse", AlertWithSecretRecord)

export class AlertsApi extends HttpApiGroup.make("alerts")
  .add(
    HttpApiEndpoint.get("list", "/v1/alerts", { query: pageQuery, success: List("AlertList", AlertRecord) })
      .annotateMerge(extension("List the alert rules with their states, newest first"))
      .annotateMerge(requires({ type: "build", action: "read", on: "resource" })),
    HttpApiEndpoint.post("create", "/v1/alerts", {
      payload: NewAlertRecord,
      success: withSecret.pipe(HttpApiSchema.status(201)),
      error: [PlanRequiredError, NotFoundError]
    })
      .annotateMerge(extension("Create an alert rule about a function, a project or the environment"))
      .annotateMerge(requires({ type: "build", action: "execute", on: "body", audit: "alert.create" })),
    HttpApiEndpoint.get("get", "/v1/alerts/:alert_id", {
      params,
      success: Single("AlertResponse", AlertRecord),
      error: NotFoundError
    })
      .annotateMerge(extension("Get an alert rule with its state"))
      .annotateMerge(requires({ type: "build", action: "read", on: "resource" })),
    HttpApiEndpoint.patch("update", "/v1/alerts/:alert_id", {
      params,
      payload: AlertChangeRecord,
      success: withSecret,
      error: NotFoundError
    })
      .annotateMerge(
        extension(
          "Change an alert rule. Its state is `ok` again if its condition changes, or if it is enabled or disabled"
        )
      )
      .annotateMerge(requires({ type: "build", action: "execute", on: "resource", audit: "alert.update" })),
    HttpApiEndpoint.delete("remove", "/v1/alerts/:alert_id", {
      params,
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    })
      .annotateMerge(extension("Remove an alert rule"))
      .annotateMerge(requires({ type: "build", action: "execute", on: "resource", audit: "alert.remove" })),
    HttpApiEndpoint.post("test", "/v1/alerts/:alert_id/test", {
      params,
      success: Single("AlertTestResponse", AlertTestRecord),
      error: NotFoundError
    })
      .annotateMerge(extension("Perform the actions of an alert rule now, as a test"))
      .annotateMerge(requires({ type: "build", action: "execute", on: "resource" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Alerts", "Rules about failures, latencies, backlogs and silence")) {}
