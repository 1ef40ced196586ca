/** The audit log of an environment: actions on its credentials, secrets, domains and deployments. */
import { AuditAction, AuditOutcome } from "@weft/core/adapter"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { List } from "../envelope/Envelope.ts"
import { AuditEntryRecord } from "../records/AuditRecords.ts"
import { StorableText } from "../records/Wire.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"
import { TimeRange } from "./TimeRange.ts"

export const AuditEntryList = List("AuditEntryList", AuditEntryRecord)

/** Filters of the log. An entry must match all of them. */
export const auditQuery = {
  ...pageQuery,
  action: Schema.optionalKey(AuditAction),
  outcome: Schema.optionalKey(AuditOutcome),
  actor_id: Schema.optionalKey(StorableText.annotate({ description: "Id of the credential that acted" })),
  object_id: Schema.optionalKey(StorableText.annotate({ description: "Id of the object of the action" })),
  time_range: Schema.optionalKey(TimeRange)
}

export class AuditApi extends HttpApiGroup.make("audit")
  .add(
    HttpApiEndpoint.get("list", "/v1/audit", {
      query: auditQuery,
      success: AuditEntryList
    })
      .annotateMerge(extension("List the audit log of the environment, newest first"))
      .annotateMerge(requires({ type: "key", action: "read", on: "resource" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Audit log", "Actions on credentials, secrets, domains and deployments, with their actors")) {}
