/** Batches of events. Functions without `batch` have none. */
import type { Dialect } from "../Dialect.ts"

export const batches = ({ types: { text }, clusteredTable }: Dialect): ReadonlyArray<string> => [
  // Ids of the events of the run's batch as JSON text; null for all other runs.
  `ALTER TABLE runs ADD COLUMN event_ids ${text}`,
  // The batches that an event joined, each by its first event.
  `CREATE TABLE batch_events (
    env_id ${text} NOT NULL, event_id ${text} NOT NULL, first_event_id ${text} NOT NULL,
    PRIMARY KEY (env_id, event_id, first_event_id)
  )${clusteredTable}`
]
