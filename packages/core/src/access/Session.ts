/** Sessions: short-lived credentials that an API key hands out (specification, "Sessions"). */
import { Schema } from "effect"
import type { Place } from "../encryption/Keyring.ts"
import { Sealed } from "../encryption/Sealed.ts"
import { ApiKeyId, EnvId, SessionId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"
import { PermissionMap } from "./Permission.ts"

export class Session extends Schema.Class<Session>("Session")({
  session_id: SessionId,
  env_id: EnvId,
  api_key_id: ApiKeyId,
  permissions: PermissionMap,
  /** JSON text, sealed; null for none. */
  metadata: Schema.NullOr(Sealed),
  /** SHA-256 of the token's secret, hex. */
  secret_hash: Schema.String,
  /** Active before this instant. A revoked session is not stored any more. */
  expires_at: Timestamp,
  created_at: Timestamp
}) {}

/** What its metadata is sealed for. */
export const sessionPlace = (id: SessionId): Place => ({ table: "sessions", id })
