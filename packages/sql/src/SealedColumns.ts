/**
 * Columns with sealed values. A new one needs an entry here. Otherwise key rotation would skip its values, and they would be
 * lost with the old key.
 */
import type { SealContext } from "@weft/core/adapter"

export interface SealedColumn {
  readonly table: SealContext["table"]
  readonly column: string
  /** The primary key. The id of a value is these columns, joined by slashes. */
  readonly key: readonly [string, ...ReadonlyArray<string>]
  /** Of large values, which a search for others must not read. */
  readonly large?: {
    /** Column with the key ids of the values. */
    readonly keyId: string
    /** Maximum values per query. Pages may be shorter than requested, so the column must be the last. */
    readonly rowsMax: number
  }
}

export const sealedColumns: ReadonlyArray<SealedColumn> = [
  { table: "context_variables", column: "value", key: ["project_id", "key"] },
  { table: "sessions", column: "metadata", key: ["session_id"] },
  { table: "service_keys", column: "metadata", key: ["service_key_id"] },
  { table: "certificates", column: "private_key", key: ["domain_id"] },
  { table: "workflow_tokens", column: "secret", key: ["env_id", "run_id", "seq"] },
  { table: "run_recordings", column: "contents", key: ["env_id", "run_id"], large: { keyId: "key_id", rowsMax: 10 } }
]
