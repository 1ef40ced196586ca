/** Sample entries of the audit log; see `Samples.ts`. */
import { AuditEntry, AuditId, JsonText } from "@weft/core/adapter"
import { apiKeyId, at, envId } from "./Samples.ts"

export const auditId = (n: number): AuditId =>
  AuditId.make(`01976a2b-00d0-7000-8000-${n.toString(16).padStart(12, "0")}`)

/** An action of API key 1 in environment 1 at `at(n)`. */
export const auditEntry = (n: number, fields: { readonly [K in keyof AuditEntry]?: AuditEntry[K] } = {}): AuditEntry =>
  new AuditEntry({
    audit_id: auditId(n),
    env_id: envId(1),
    action: "session.create",
    outcome: "done",
    count: 1,
    actor_type: "api-key",
    actor_id: apiKeyId(1),
    actor_api_key_id: null,
    object_id: null,
    object_name: null,
    details: JsonText.make("{}"),
    request_id: null,
    address: null,
    created_at: at(n),
    ...fields
  })
