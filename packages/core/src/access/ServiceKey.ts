/** Service keys: long-lived credentials that an API key hands out (specification, "Service keys"). */
import { Schema } from "effect"
import type { Place } from "../encryption/Keyring.ts"
import { Sealed } from "../encryption/Sealed.ts"
import { ApiKeyId, EnvId, ServiceKeyId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"
import { PermissionMap } from "./Permission.ts"

export class ServiceKey extends Schema.Class<ServiceKey>("ServiceKey")({
  service_key_id: ServiceKeyId,
  env_id: EnvId,
  api_key_id: ApiKeyId,
  name: Schema.String,
  description: Schema.String,
  permissions: PermissionMap,
  /** JSON text, sealed; null for none. */
  metadata: Schema.NullOr(Sealed),
  /** SHA-256 of the token's secret, hex. */
  secret_hash: Schema.String,
  /** Null: never expires. */
  expires_at: Schema.NullOr(Timestamp),
  /** Revoked keys stay, for audit. */
  revoked_at: Schema.NullOr(Timestamp),
  created_at: Timestamp
}) {}

export const isActive = (key: ServiceKey, now: Timestamp): boolean =>
  key.revoked_at === null && (key.expires_at === null || now < key.expires_at)

/** What its metadata is sealed for. */
export const serviceKeyPlace = (id: ServiceKeyId): Place => ({ table: "service_keys", id })
