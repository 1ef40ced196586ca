/** Service keys: long-lived credentials that an API key creates (specification, "Service keys"). */
import { Schema } from "effect"
import { ApiKeyId, EnvId, ServiceKeyId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { SealContext } from "../../platform/encryption/Keyring.ts"
import { Sealed } from "../../platform/encryption/Sealed.ts"
import { PermissionMap } from "./Permission.ts"

export class ServiceKey extends Schema.Class<ServiceKey>("ServiceKey")({
  service_key_id: ServiceKeyId,
  env_id: EnvId,
  api_key_id: ApiKeyId,
  name: Schema.String,
  description: Schema.String,
  permissions: PermissionMap,
  /** Encrypted JSON text, or null. */
  metadata: Schema.NullOr(Sealed),
  /** SHA-256 of the token's secret, in hex. */
  secret_hash: Schema.String,
  /** Null if the key never expires. */
  expires_at: Schema.NullOr(Timestamp),
  /** Null unless the key is revoked. Revoked keys remain stored, for audit. */
  revoked_at: Schema.NullOr(Timestamp),
  created_at: Timestamp
}) {}

export const isActive = (key: ServiceKey, now: Timestamp): boolean =>
  key.revoked_at === null && (key.expires_at === null || now < key.expires_at)

/** Returns the associated data of the encrypted metadata. */
export const serviceKeyPlace = (id: ServiceKeyId): SealContext => ({ table: "service_keys", id })
