/** Sessions: short-lived credentials that an API key creates (specification, "Sessions"). */
import { Schema } from "effect"
import { ApiKeyId, EnvId, SessionId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { SealContext } from "../../platform/encryption/Keyring.ts"
import { Sealed } from "../../platform/encryption/Sealed.ts"
import { PermissionMap } from "./Permission.ts"

export class Session extends Schema.Class<Session>("Session")({
  session_id: SessionId,
  env_id: EnvId,
  api_key_id: ApiKeyId,
  permissions: PermissionMap,
  /** Encrypted JSON text, or null. */
  metadata: Schema.NullOr(Sealed),
  /** SHA-256 of the token's secret, in hex. */
  secret_hash: Schema.String,
  /** The session is active before this instant. A revoked session is removed. */
  expires_at: Timestamp,
  created_at: Timestamp
}) {}

/** Returns the associated data of the encrypted metadata. */
export const sessionPlace = (id: SessionId): SealContext => ({ table: "sessions", id })
