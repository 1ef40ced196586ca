/** Operations on many runs, which continue in the background. */
import { OperationId, OperationState } from "@weft/core/adapter"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError } from "../errors/ErrorSchemas.ts"
import { example } from "../openapi/FieldExample.ts"
import { NewOperationRecord, OperationPreviewRecord, OperationRecord } from "../records/OperationRecords.ts"
import { pathId } from "../records/Uuid.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"

const params = { operation_id: pathId(OperationId) }
const permission = { type: "call", action: "create", on: "resource" } as const

export class OperationsApi extends HttpApiGroup.make("operations")
  .add(
    HttpApiEndpoint.get("list", "/v1/operations", {
      query: { ...pageQuery, state: example(Schema.optionalKey(OperationState), "running") },
      success: List("OperationList", OperationRecord)
    })
      .annotateMerge(
        extension("List operations, newest first; a credential for some functions sees only its own. Kept for 30 days")
      )
      .annotateMerge(requires(permission)),
    HttpApiEndpoint.post("create", "/v1/operations", {
      payload: NewOperationRecord,
      headers: {
        "idempotency-key": Schema.optionalKey(
          Schema.String.annotate({
            description: "Requests with the same key are one operation",
            examples: ["incident-1042"]
          })
        )
      },
      success: [
        Single("OperationResponse", OperationRecord).pipe(HttpApiSchema.status(201)),
        Single("OperationPreviewResponse", OperationPreviewRecord)
      ]
    })
      .annotateMerge(
        extension(
          "Cancel or replay all runs that match the filter and began before now, or redrive their dead letters, in the background. With `dry_run`, only counts them"
        )
      )
      .annotateMerge(requires({ ...permission, audit: "operation.create" })),
    HttpApiEndpoint.get("get", "/v1/operations/:operation_id", {
      params,
      success: Single("OperationResponse", OperationRecord),
      error: NotFoundError
    })
      .annotateMerge(
        extension(
          "Get an operation with its progress. With `Accept: text/event-stream`, messages `operation:progress` with each state, and then `operation:end`"
        )
      )
      .annotateMerge(requires(permission)),
    HttpApiEndpoint.post("cancel", "/v1/operations/:operation_id/cancel", {
      params,
      success: Single("OperationResponse", OperationRecord),
      error: NotFoundError
    })
      .annotateMerge(extension("End an operation; its effects stay"))
      .annotateMerge(requires({ ...permission, audit: "operation.cancel" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Operations", "Cancellations, replays and redrives of many runs, in the background")) {}
