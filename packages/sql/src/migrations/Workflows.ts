/** Durable runs: their recorded steps, what they wait for, and the deliveries that continue them. */
import type { Dialect } from "../Dialect.ts"

export const workflows = ({ types: { text, integer }, table, clusteredTable }: Dialect): ReadonlyArray<string> => [
  `ALTER TABLE runs ADD COLUMN activations ${integer}`,
  // Set on running runs that no node executes.
  `ALTER TABLE runs ADD COLUMN waiting ${text}`,
  // Set on running runs whose cleanup was requested, and on those that ended after one.
  `ALTER TABLE runs ADD COLUMN cleanup_until ${integer}`,
  `ALTER TABLE deliveries ADD COLUMN continues ${text}`,
  // The runs that nodes execute are few, however many are suspended.
  `CREATE INDEX runs_held ON runs (node_id) WHERE status = 'running' AND waiting IS NULL`,
  `CREATE INDEX deliveries_continuing ON deliveries (env_id, continues) WHERE continues IS NOT NULL`,
  // Large columns are last.
  `CREATE TABLE workflow_steps (
    env_id ${text} NOT NULL, run_id ${text} NOT NULL, position ${integer} NOT NULL, seq ${integer} NOT NULL,
    kind ${text} NOT NULL, name ${text} NOT NULL, ok ${integer} NOT NULL, attempts ${integer} NOT NULL,
    started_at ${integer} NOT NULL, ended_at ${integer} NOT NULL, result ${text},
    PRIMARY KEY (env_id, run_id, position)
  )${table}`,
  `CREATE TABLE workflow_waits (
    env_id ${text} NOT NULL, run_id ${text} NOT NULL, seq ${integer} NOT NULL, kind ${text} NOT NULL,
    name ${text} NOT NULL, event_type ${text}, match_path ${text}, match_value ${text}, attempts ${integer} NOT NULL,
    since ${integer} NOT NULL, until ${integer}, match ${text}, outcome ${text},
    PRIMARY KEY (env_id, run_id, seq)
  )${clusteredTable}`,
  // Only waits that an event may end have entries.
  ...[
    `workflow_waits_by_match ON workflow_waits (env_id, event_type, match_path, match_value, run_id, seq)`,
    `workflow_waits_by_age ON workflow_waits (env_id, event_type, since)`
  ].map((index) => `CREATE INDEX ${index} WHERE event_type IS NOT NULL AND outcome IS NULL`),
  // Due schedules of all environments but some, and of one: the scheduler is fair between environments.
  `DROP INDEX schedules_by_due`,
  `CREATE INDEX schedules_by_due ON schedules (due_at, schedule_id, env_id)`,
  `CREATE INDEX schedules_due_of_env ON schedules (env_id, due_at, schedule_id)`
]
