/** Finding what is next in the queue without looking at all of it. */
import { parkedAt } from "@weft/core"

export const queue: ReadonlyArray<string> = [
  `CREATE INDEX deliveries_by_due ON deliveries (due_at) WHERE due_at < ${parkedAt}`,
  // The oldest of a group, which are let in first.
  `CREATE INDEX deliveries_of_group ON deliveries (env_id, group_key, delivery_id) WHERE group_key IS NOT NULL`
]
