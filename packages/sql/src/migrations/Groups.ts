/** Concurrency groups: deliveries whose runs share a limit. */
import { parkedAt } from "@weft/core/adapter"
import type { Dialect } from "../Dialect.ts"

export const groups = ({ types: { text } }: Dialect): ReadonlyArray<string> => [
  // Set on runs only while they are running. The limit is part of `terms`.
  `ALTER TABLE runs ADD COLUMN group_key ${text}`,
  `ALTER TABLE deliveries ADD COLUMN group_key ${text}`,
  // Partial indexes: deliveries without a group have no entry.
  `CREATE INDEX runs_grouped ON runs (env_id, group_key) WHERE group_key IS NOT NULL`,
  `CREATE INDEX deliveries_grouped ON deliveries (env_id, group_key, due_at, delivery_id) WHERE group_key IS NOT NULL`,
  `CREATE INDEX deliveries_parked ON deliveries (env_id, group_key, delivery_id) WHERE due_at = ${parkedAt}`
]
