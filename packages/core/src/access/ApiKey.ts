/** API keys: the credentials that a dashboard makes (specification, "Authentication"). */
import { Schema } from "effect"
import { ApiKeyId, EnvId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"
import { PermissionMap } from "./Permission.ts"

export class ApiKey extends Schema.Class<ApiKey>("ApiKey")({
  api_key_id: ApiKeyId,
  env_id: EnvId,
  name: Schema.String,
  enabled: Schema.Boolean,
  permissions: PermissionMap,
  /** SHA-256 of the token's secret, hex. The secret itself is shown once and kept nowhere. */
  secret_hash: Schema.String,
  created_at: Timestamp,
  updated_at: Timestamp
}) {}
