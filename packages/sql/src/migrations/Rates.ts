/** How far the permits of each organization have been handed out, for nodes that share its rate. */
import type { Dialect } from "../Dialect.ts"

export const rates = ({ types: { text, integer }, clusteredTable, forgetful }: Dialect): ReadonlyArray<string> => [
  // `place` is the birth of the last permit that was handed out, in parts of a millisecond of which there are
  // `per_second`; `given` is how many went with it. `filled_at` is when the organization last began with a full second.
  `CREATE ${forgetful}TABLE rates (
    org_id ${text} PRIMARY KEY, per_second ${integer} NOT NULL, place ${integer} NOT NULL, given ${integer} NOT NULL,
    filled_at ${integer} NOT NULL
  )${clusteredTable}`
]
