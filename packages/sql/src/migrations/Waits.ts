/** Why deliveries wait. */
import type { Dialect } from "../Dialect.ts"

export const waits = ({ types: { integer } }: Dialect): ReadonlyArray<string> => [
  // Set on deliveries that a group, a throttle or a pause holds.
  `ALTER TABLE deliveries ADD COLUMN held_since ${integer}`
]
