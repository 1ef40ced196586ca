/** Indexes that find the next deliveries of the queue. */
import { parkedAt } from "@weft/core/adapter"

export const queue: ReadonlyArray<string> = [
  `CREATE INDEX deliveries_by_due ON deliveries (due_at) WHERE due_at < ${parkedAt}`,
  // The oldest deliveries of a group, which start first.
  `CREATE INDEX deliveries_of_group ON deliveries (env_id, group_key, delivery_id) WHERE group_key IS NOT NULL`
]
