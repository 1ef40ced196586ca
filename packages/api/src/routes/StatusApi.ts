/** What the server says of itself, to anyone. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { NotReadyError, UnauthorizedError } from "../errors/ErrorSchemas.ts"
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
    HttpApiEndpoint.get("metrics", "/metrics", {
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/plain; version=0.0.4; charset=utf-8" })),
      error: UnauthorizedError
    }).annotateMerge(extension("What the node counts, for Prometheus; a host may ask for a token of its own")),
    HttpApiEndpoint.get("healthz", "/healthz", { success: HealthRecord, error: UnauthorizedError }).annotateMerge(
      extension("Whether the process answers")
    ),
    HttpApiEndpoint.get("readyz", "/readyz", {
      success: HealthRecord,
      error: [UnauthorizedError, NotReadyError]
    }).annotateMerge(extension("Whether the server takes requests and its store answers"))
  )
  .annotateMerge(tag("Status", "What the server says of itself, without a credential")) {}
