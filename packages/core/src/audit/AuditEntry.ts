/**
 * The audit log: what was done with credentials, secrets, domains, deployments and tenants, by whom and from where.
 *
 * An entry holds ids and names, never a token, a value or a key.
 */
import { Schema } from "effect"
import { ApiKeyId, AuditId, EnvId } from "../ids/Ids.ts"
import { JsonText } from "../ids/JsonText.ts"
import { Timestamp } from "../ids/Timestamp.ts"

export const AuditAction = Schema.Literals([
  "api_key.create",
  "api_key.update",
  "api_key.remove",
  "session.create",
  "session.revoke",
  "session.revoke_all",
  "service_key.create",
  "service_key.revoke",
  "service_key.revoke_all",
  "context.create",
  "context.update",
  "context.remove",
  "domain.add",
  "domain.remove",
  "build.deploy",
  "build.go_live",
  "build.end_live",
  "project.remove",
  "org.create",
  "org.update",
  "env.create",
  "secrets.reseal",
  "authenticate"
])
export type AuditAction = typeof AuditAction.Type

/** `refused`: by a missing permission or a wrong credential; nothing was changed. */
export const AuditOutcome = Schema.Literals(["done", "refused"])
export type AuditOutcome = typeof AuditOutcome.Type

/** `host`: the embedding program itself; `admin`: its admin token; `unknown`: no credential that is there. */
export const AuditActorType = Schema.Literals(["api-key", "service-key", "session", "host", "admin", "unknown"])
export type AuditActorType = typeof AuditActorType.Type

export class AuditEntry extends Schema.Class<AuditEntry>("AuditEntry")({
  audit_id: AuditId,
  /** Null for what is of no environment: organizations, the host's own actions, unknown credentials. */
  env_id: Schema.NullOr(EnvId),
  action: AuditAction,
  outcome: AuditOutcome,
  /** How often: 1 for what was done; refusals of one kind within a second are one entry. */
  count: Schema.Int,
  actor_type: AuditActorType,
  /** The id of the credential. Of a refused authentication: the one that was claimed. */
  actor_id: Schema.NullOr(Schema.String),
  /** The API key that handed out the credential. */
  actor_api_key_id: Schema.NullOr(ApiKeyId),
  /** Null where the action is of many, or nothing came of it. */
  object_id: Schema.NullOr(Schema.String),
  /** A name that people know it by: of a key, a variable, a domain, a project, an organization. */
  object_name: Schema.NullOr(Schema.String),
  /** JSON text of an object: what was set, or how many were meant. */
  details: JsonText,
  /** Null where no request was the cause. */
  request_id: Schema.NullOr(Schema.String),
  /** The client's address as the HTTP layer knows it. */
  address: Schema.NullOr(Schema.String),
  created_at: Timestamp
}) {}
