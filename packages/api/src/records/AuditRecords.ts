/** Wire format of audit entries. */
import { AuditEntry } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { Instant, jsonValue } from "./Wire.ts"

export const AuditEntryRecord = Schema.Struct({
  ...Struct.pick(AuditEntry.fields, ["audit_id", "env_id"]),
  action: example(AuditEntry.fields.action, "service_key.create"),
  ...Struct.pick(AuditEntry.fields, ["outcome", "count"]),
  actor_type: example(AuditEntry.fields.actor_type, "api-key"),
  actor_id: example(AuditEntry.fields.actor_id, "01970d3c-6a20-78bf-a48c-b3d1cf705c10"),
  actor_api_key_id: example(AuditEntry.fields.actor_api_key_id, null),
  object_id: example(AuditEntry.fields.object_id, "01970d42-6da0-7e9d-826a-91bfad5e3a0e"),
  object_name: example(AuditEntry.fields.object_name, "CI"),
  request_id: example(AuditEntry.fields.request_id, "01970d44-8fc0-79c0-959d-c4e2d0816d11"),
  address: example(AuditEntry.fields.address, "203.0.113.7"),
  details: jsonValue({ permissions: { "mcp:*": ["execute"] }, expires_at: null }),
  created_at: Instant
}).annotate({ identifier: "AuditEntry" })
