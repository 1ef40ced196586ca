/** API keys: the credentials that a host's dashboard creates (specification, "Authentication"). */
import { Schema } from "effect"
import { ApiKeyId, EnvId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { PermissionMap } from "./Permission.ts"

export class ApiKey extends Schema.Class<ApiKey>("ApiKey")({
  api_key_id: ApiKeyId,
  env_id: EnvId,
  name: Schema.String,
  enabled: Schema.Boolean,
  permissions: PermissionMap,
  /** SHA-256 of the token's secret, in hex. The secret itself is returned once and not stored. */
  secret_hash: Schema.String,
  created_at: Timestamp,
  updated_at: Timestamp
}) {}
