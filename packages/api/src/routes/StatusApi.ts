/** Status of the server, without a credential. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { NotReadyError, UnauthorizedError } from "../errors/ErrorSchemas.ts"
import { HealthRecord, StatusRecord } from "../records/Records.ts"
import { extension, summary, tag } from "./Documentation.ts"

export class StatusApi extends HttpApiGroup.make("status")
  .add(
    HttpApiEndpoint.get("get", "/v1/status", { success: StatusRecord }).annotateMerge(
      summary("Get the version and the start time of the server")
    ),
    HttpApiEndpoint.get("openapi", "/v1/openapi.json", {
      success: Schema.Record(Schema.String, Schema.Json)
    }).annotateMerge(extension("Get this document")),
    HttpApiEndpoint.get("metrics", "/metrics", {
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/plain; version=0.0.4; charset=utf-8" })),
      error: UnauthorizedError
    }).annotateMerge(extension("Get the metrics of the node for Prometheus; a host may require a token")),
    HttpApiEndpoint.get("healthz", "/healthz", { success: HealthRecord, error: UnauthorizedError }).annotateMerge(
      extension("Check that the process responds")
    ),
    HttpApiEndpoint.get("readyz", "/readyz", {
      success: HealthRecord,
      error: [UnauthorizedError, NotReadyError]
    }).annotateMerge(extension("Check that the server accepts requests and its store is available"))
  )
  .annotateMerge(tag("Status", "Status of the server, without a credential")) {}
