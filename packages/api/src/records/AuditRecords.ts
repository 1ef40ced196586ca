/** Entries of the audit log on the wire. */
import { AuditEntry } from "@weft/core"
import { Schema, Struct } from "effect"
import { Instant, JsonValue } from "./Wire.ts"

export const AuditEntryRecord = Schema.Struct({
  ...Struct.pick(AuditEntry.fields, [
    "audit_id",
    "env_id",
    "action",
    "outcome",
    "count",
    "actor_type",
    "actor_id",
    "actor_api_key_id",
    "object_id",
    "object_name",
    "request_id",
    "address"
  ]),
  details: JsonValue,
  created_at: Instant
}).annotate({ identifier: "AuditEntry" })
