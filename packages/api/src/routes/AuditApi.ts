/** The audit log of an environment: what was done with its credentials, secrets, domains and deployments. */
import { AuditAction, AuditOutcome } from "@weft/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { List } from "../envelope/Envelope.ts"
import { AuditEntryRecord } from "../records/AuditRecords.ts"
import { StorableText } from "../records/Wire.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"
import { TimeRange } from "./TimeRange.ts"

export const AuditEntryList = List("AuditEntryList", AuditEntryRecord)

/** What the log is filtered by, all of it together. */
export const auditQuery = {
  ...pageQuery,
  action: Schema.optionalKey(AuditAction),
  outcome: Schema.optionalKey(AuditOutcome),
  actor_id: Schema.optionalKey(StorableText.annotate({ description: "The id of the credential that acted" })),
  object_id: Schema.optionalKey(StorableText.annotate({ description: "The id of what was acted upon" })),
  time_range: Schema.optionalKey(TimeRange)
}

export class AuditApi extends HttpApiGroup.make("audit")
  .add(
    HttpApiEndpoint.get("list", "/v1/audit", {
      query: auditQuery,
      success: AuditEntryList
    }).annotateMerge(extension("List the audit log of the environment, newest first"))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Audit log", "Who did what with credentials, secrets, domains and deployments")) {}
