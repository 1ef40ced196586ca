/** What the server says of itself, to anyone. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { HealthRecord, StatusRecord } from "../records/Records.ts"
import { extension, summary, tag } from "./Documentation.ts"

export class StatusApi extends HttpApiGroup.make("status")
  .add(
    HttpApiEndpoint.get("get", "/v1/status", { success: StatusRecord }).annotateMerge(
      summary("The version of the server and since when it runs")
    ),
    HttpApiEndpoint.get("openapi", "/v1/openapi.json", {
      success: Schema.Record(Schema.String, Schema.Json)
    }).annotateMerge(extension("This document")),
    HttpApiEndpoint.get("healthz", "/healthz", { success: HealthRecord }).annotateMerge(
      extension("Whether the process answers")
    ),
    HttpApiEndpoint.get("readyz", "/readyz", { success: HealthRecord }).annotateMerge(
      extension("Whether the server takes requests and its store answers")
    )
  )
  .annotateMerge(tag("Status", "What the server says of itself, without a credential")) {}
