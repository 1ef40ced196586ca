/**
 * Entries of the audit log: actions on credentials, secrets, domains, deployments and tenants, with actor and origin.
 *
 * An entry contains ids and names, never a token, the value of a secret or a private key.
 */
import { Schema } from "effect"
import { ApiKeyId, AuditId, EnvId } from "../../foundation/Ids.ts"
import { JsonText } from "../../foundation/JsonText.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"

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
  "canary.start",
  "canary.promote",
  "canary.rollback",
  "build.go_live",
  "build.end_live",
  "build.quarantine",
  "build.release",
  "build.run",
  "eval.run",
  "repl.open",
  "repl.input",
  "project.remove",
  "preview.create",
  "preview.update",
  "preview.remove",
  "deliveries.cancel",
  "dead_letters.redrive",
  "dead_letters.discard",
  "pause.create",
  "pause.end",
  "operation.create",
  "operation.cancel",
  "alert.create",
  "alert.update",
  "alert.remove",
  "run.wake",
  "recording.read",
  "token.complete",
  "file.damage",
  "build.damage",
  "org.create",
  "org.update",
  "env.create",
  "secrets.reseal",
  "authenticate"
])
export type AuditAction = typeof AuditAction.Type

/** `refused` means a missing permission or an invalid credential; nothing was changed. */
export const AuditOutcome = Schema.Literals(["done", "refused"])
export type AuditOutcome = typeof AuditOutcome.Type

/**
 * `host` is the embedding program, `admin` its admin token, `unknown` a credential that does not exist. `token` is a client
 * with the URL of a durable run's token.
 */
export const AuditActorType = Schema.Literals([
  "api-key",
  "service-key",
  "session",
  "host",
  "admin",
  "token",
  "unknown"
])
export type AuditActorType = typeof AuditActorType.Type

export class AuditEntry extends Schema.Class<AuditEntry>("AuditEntry")({
  audit_id: AuditId,
  /** Null without an environment: for organizations, actions of the host and unknown credentials. */
  env_id: Schema.NullOr(EnvId),
  action: AuditAction,
  outcome: AuditOutcome,
  /** Number of occurrences: 1 for `done`. Refusals of one kind within a second share an entry. */
  count: Schema.Int,
  actor_type: AuditActorType,
  /** Id of the credential. For a refused authentication, the id in the invalid token. */
  actor_id: Schema.NullOr(Schema.String),
  /** API key that created the credential. */
  actor_api_key_id: Schema.NullOr(ApiKeyId),
  /** Null if the action has several objects or was refused. */
  object_id: Schema.NullOr(Schema.String),
  /** Readable name of the object: of a key, a variable, a domain, a project or an organization. */
  object_name: Schema.NullOr(Schema.String),
  /** JSON text of an object, such as the new values or the number of objects. */
  details: JsonText,
  /** Null without a request. */
  request_id: Schema.NullOr(Schema.String),
  /** Address of the client, as determined by the HTTP layer. */
  address: Schema.NullOr(Schema.String),
  created_at: Timestamp
}) {}
