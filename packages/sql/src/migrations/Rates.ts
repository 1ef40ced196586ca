/** Allocated permits of each organization, for nodes that share its rate limit. */
import type { Dialect } from "../Dialect.ts"

export const rates = ({ types: { text, integer }, clusteredTable, unlogged }: Dialect): ReadonlyArray<string> => [
  // `place` is the time of the last allocated permit, in 1/`per_second` of a millisecond. `given` is the number of permits
  // of that allocation. `filled_at` is the time of the last refill.
  `CREATE ${unlogged}TABLE rates (
    org_id ${text} PRIMARY KEY, per_second ${integer} NOT NULL, place ${integer} NOT NULL, given ${integer} NOT NULL,
    filled_at ${integer} NOT NULL
  )${clusteredTable}`
]
