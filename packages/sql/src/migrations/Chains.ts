/** Depth in their chain of the events that a schedule publishes. A delivery has its depth in `terms`. */
import type { Dialect } from "../Dialect.ts"

export const chains = ({ types: { integer } }: Dialect): ReadonlyArray<string> => [
  `ALTER TABLE schedules ADD COLUMN depth ${integer} NOT NULL DEFAULT 0`
]
