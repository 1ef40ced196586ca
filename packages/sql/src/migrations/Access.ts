/** Sessions and service keys, which API keys issue. */
import type { Dialect } from "../Dialect.ts"

export const access = ({ types: { text, integer }, table }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE sessions (
    session_id ${text} PRIMARY KEY, env_id ${text} NOT NULL, api_key_id ${text} NOT NULL,
    permissions ${text} NOT NULL, secret_hash ${text} NOT NULL,
    expires_at ${integer} NOT NULL, created_at ${integer} NOT NULL, metadata ${text}
  )${table}`,
  // Counts active sessions without reading their rows.
  `CREATE INDEX sessions_of_api_key ON sessions (api_key_id, expires_at)`,
  `CREATE INDEX sessions_by_end ON sessions (expires_at)`,
  `CREATE TABLE service_keys (
    service_key_id ${text} PRIMARY KEY, env_id ${text} NOT NULL, api_key_id ${text} NOT NULL,
    name ${text} NOT NULL, description ${text} NOT NULL, permissions ${text} NOT NULL, secret_hash ${text} NOT NULL,
    expires_at ${integer}, revoked_at ${integer}, created_at ${integer} NOT NULL, metadata ${text}
  )${table}`,
  `CREATE INDEX service_keys_of_api_key ON service_keys (api_key_id, service_key_id)`
]
